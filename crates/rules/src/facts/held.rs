//! The members of a JSON object, read one by one without building their values.

use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Gives each member of a JSON object, by its name in lower case, as long as more is asked for;
/// whether all of it was read so.
pub(super) fn each_member(text: &str, look: impl FnMut(&str, Held) -> bool) -> bool {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(Members(look)).is_ok() && reader.end().is_ok()
}

/// The members of an object, each shown to a function that says whether more is asked for.
struct Members<L>(L);

impl<'de, L: FnMut(&str, Held) -> bool> Visitor<'de> for Members<L> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let held = map.next_value()?;
            if !(self.0)(&name.to_ascii_lowercase(), held) {
                return Err(A::Error::custom("no more is asked for"));
            }
        }
        Ok(())
    }
}

/// What a member holds, as far as it may tell that there is nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    /// A list of nothing.
    Nothing,
    Number(f64),
    Flag(bool),
    Null,
    Other,
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Value)
    }
}

/// A value, of which only what [`Held`] tells is kept.
struct Value;

impl<'de> Visitor<'de> for Value {
    type Value = Held;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Held, E> {
        Ok(Held::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Held, E> {
        Ok(Held::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Held, E> {
        Ok(Held::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Held, E> {
        Ok(Held::Number(number))
    }

    fn visit_str<E>(self, _: &str) -> Result<Held, E> {
        Ok(Held::Other)
    }

    fn visit_unit<E>(self) -> Result<Held, E> {
        Ok(Held::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Held, A::Error> {
        let mut held = Held::Nothing;
        while items.next_element::<IgnoredAny>()?.is_some() {
            held = Held::Other;
        }
        Ok(held)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Held, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Held::Other)
    }
}
