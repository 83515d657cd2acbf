use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Limits on accepted JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// The maximum nesting of arrays and objects.
    pub depth: usize,
    /// The maximum size of the text in bytes.
    pub bytes: usize,
}

impl JsonLimits {
    /// The limits for the arguments of a call.
    pub const ARGUMENTS: Self = Self { depth: 64, bytes: 1024 * 1024 };

    /// The limits for JSON written by this program: those of the JSON reader.
    pub const RECORDED: Self = Self { depth: 127, bytes: usize::MAX };

    /// Checks the size of a text.
    pub(crate) fn admit(self, text: &str) -> Result<(), JsonError> {
        if text.len() > self.bytes {
            return Err(JsonError::TooLarge { limit: self.bytes, actual: text.len() });
        }
        Ok(())
    }
}

/// Why a text is not accepted as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It exceeds the size limit.
    #[error("the JSON has {actual} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// The size in bytes.
        actual: usize,
    },
    /// The text ends before the value does.
    #[error("the JSON is truncated: {0}")]
    Truncated(String),
    /// Any other error of the parser: syntax, depth, duplicate keys.
    #[error("{0}")]
    Invalid(String),
}

/// Parses exactly one JSON value, without repeated keys and within the limits for nesting and size.
///
/// # Errors
/// See [`JsonError`].
pub fn parse_strict(text: &str, limits: JsonLimits) -> Result<Value, JsonError> {
    limits.admit(text)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: limits.depth }.deserialize(&mut reader).map_err(from_serde)?;
    reader.end().map_err(from_serde)?;
    Ok(value)
}

fn from_serde(error: serde_json::Error) -> JsonError {
    if error.is_eof() {
        JsonError::Truncated(error.to_string())
    } else {
        JsonError::Invalid(error.to_string())
    }
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth }),
            None => Err(E::custom("nested too deeply")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        Deserialize::deserialize(reader)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key `{key}` appears twice")));
            }
            map.insert(key, members.next_value_seed(inner)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_serde_lets_pass() {
        let strict = |text: &str| parse_strict(text, JsonLimits { depth: 3, bytes: 64 });
        assert!(strict(r#"{"a":[1,{"b":null}]}"#).is_ok());
        assert!(
            matches!(strict(r#"{"a":1,"a":2}"#), Err(JsonError::Invalid(m)) if m.contains("`a` appears twice"))
        );
        assert!(matches!(strict("[[[[1]]]]"), Err(JsonError::Invalid(m)) if m.contains("deeply")));
        assert!(matches!(strict(r#"{"a":"#), Err(JsonError::Truncated(_))));
        assert!(matches!(strict("{} {}"), Err(JsonError::Invalid(_))));
        assert!(matches!(strict(&" ".repeat(65)), Err(JsonError::TooLarge { actual: 65, .. })));
    }
}
