//! Canonical bytes of whatever serde can write, without a JSON value in between.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{
    self, Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::{Error, Number};

use super::{by_utf16, write_number, write_string};

/// Writes one value behind what is there.
pub(super) struct Canonical<'o>(pub(super) &'o mut Vec<u8>);

type Result<T> = std::result::Result<T, Error>;

impl<'o> Canonical<'o> {
    fn members(self) -> Members<'o> {
        self.0.push(b'{');
        let start = self.0.len();
        Members { out: self.0, start, members: Vec::new(), closing: "}" }
    }

    fn items(self) -> Items<'o> {
        self.0.push(b'[');
        Items { out: self.0, any: false, closing: "]" }
    }

    /// Begins an object of one member, which is called as a variant.
    fn variant(&mut self, name: &str) {
        self.0.push(b'{');
        write_string(name, self.0);
        self.0.push(b':');
    }

    fn number(self, number: impl Into<Number>) -> Result<()> {
        write_number(&number.into(), self.0);
        Ok(())
    }
}

macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {$(
        fn $name(self, number: $type) -> Result<()> {
            self.number(number)
        }
    )*};
}

impl<'o> ser::Serializer for Canonical<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'o>;
    type SerializeTuple = Items<'o>;
    type SerializeTupleStruct = Items<'o>;
    type SerializeTupleVariant = Items<'o>;
    type SerializeMap = Members<'o>;
    type SerializeStruct = Members<'o>;
    type SerializeStructVariant = Members<'o>;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, number: f32) -> Result<()> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<()> {
        match Number::from_f64(number) {
            Some(number) => self.number(number),
            None => self.serialize_unit(),
        }
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<()> {
        write_string(text, self.0);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.variant(name);
        value.serialize(Canonical(self.0))?;
        self.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'o>> {
        Ok(self.items())
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'o>> {
        Ok(self.items())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'o>> {
        Ok(self.items())
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Items<'o>> {
        self.variant(name);
        Ok(Items { closing: "]}", ..self.items() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'o>> {
        Ok(self.members())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'o>> {
        Ok(self.members())
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Members<'o>> {
        self.variant(name);
        Ok(Members { closing: "}}", ..self.members() })
    }
}

/// A list that is being written.
pub(super) struct Items<'o> {
    out: &'o mut Vec<u8>,
    any: bool,
    closing: &'static str,
}

impl Items<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if std::mem::replace(&mut self.any, true) {
            self.out.push(b',');
        }
        value.serialize(Canonical(self.out))
    }

    fn close(self) -> Result<()> {
        self.out.extend_from_slice(self.closing.as_bytes());
        Ok(())
    }
}

/// An object that is being written: its members stand as they came until all are there.
pub(super) struct Members<'o> {
    out: &'o mut Vec<u8>,
    /// Where the first member begins.
    start: usize,
    /// The keys, and where each member ends.
    members: Vec<(Cow<'static, str>, usize)>,
    closing: &'static str,
}

impl Members<'_> {
    fn key(&mut self, key: &str) {
        write_string(key, self.out);
        self.out.push(b':');
    }

    fn value<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<Cow<'static, str>>,
        value: &T,
    ) -> Result<()> {
        value.serialize(Canonical(self.out))?;
        self.members.push((key.into(), self.out.len()));
        Ok(())
    }

    fn close(self) -> Result<()> {
        let Self { out, start, members, closing } = self;
        let starts = std::iter::once(start).chain(members.iter().map(|(_, end)| *end));
        let mut sorted: Vec<_> = members.iter().zip(starts).collect();
        sorted.sort_by(|((a, _), _), ((b, _), _)| by_utf16(a, b));
        if sorted.windows(2).any(|pair| matches!(pair, [((a, _), _), ((b, _), _)] if a == b)) {
            return Err(Error::custom("an object has a member twice"));
        }
        let written = out.split_off(start);
        for (place, ((_, end), from)) in sorted.into_iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(written.get(from - start..end - start).unwrap_or_default());
        }
        out.extend_from_slice(closing.as_bytes());
        Ok(())
    }
}

macro_rules! items {
    ($($trait:ident: $method:ident),*) => {$(
        impl $trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        }
    )*};
}

items!(
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
);

macro_rules! members {
    ($($trait:ident),*) => {$(
        impl $trait for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<()> {
                self.key(key);
                self.value(key, value)
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        }
    )*};
}

members!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let serde_json::Value::String(key) = serde_json::to_value(key)? else {
            return Err(Error::custom("a member has no name"));
        };
        self.key(&key);
        self.members.push((key.into(), 0));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let (key, _) = self.members.pop().ok_or_else(|| Error::custom("a member has no name"))?;
        self.value(key, value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}
