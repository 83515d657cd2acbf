//! Reads the members of a JSON object one by one, without building their values.
//!
//! A value that strict JSON refuses (half a surrogate pair, `1e400`, any nesting) does not hide
//! other members.

use std::fmt;

use counterfoil_model::LossyText;
use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Passes each member of a JSON object, with its name in lower case, to a function until the
/// function returns false. Returns whether the whole object was read.
pub fn each_member(text: &str, mut look: impl FnMut(&str, Held) -> bool) -> bool {
    each_raw(text, |name, value| look(name, value.map_or(Held::Other, Held::parse)))
}

/// Passes each member with its raw value, or `None` if the text is cut off in the value.
pub(crate) fn each_raw(text: &str, look: impl FnMut(&str, Option<&str>) -> bool) -> bool {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(Members(look)).is_ok() && reader.end().is_ok()
}

/// Visits the members of an object until a function returns false.
struct Members<L>(L);

impl<'de, L: FnMut(&str, Option<&str>) -> bool> Visitor<'de> for Members<L> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(LossyText(name)) = map.next_key()? {
            let name = name.to_ascii_lowercase();
            match map.next_value::<&RawValue>() {
                Ok(value) if (self.0)(&name, Some(value.get())) => {}
                Ok(_) => return Err(A::Error::custom("no more is asked for")),
                Err(error) => {
                    (self.0)(&name, None);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// The kind of a member's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// Anything else.
    Other,
}

impl Held {
    fn parse(written: &str) -> Self {
        match written {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            other => other.parse().map_or(Self::Other, Self::Number),
        }
    }
}

/// Whether a list or an object is empty.
pub(crate) fn is_empty(written: &str, opens: char, closes: char) -> bool {
    let inner = written.strip_prefix(opens).and_then(|rest| rest.strip_suffix(closes));
    inner.is_some_and(|inner| inner.trim().is_empty())
}
