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
    let wrong = WrongJson::new(&error).to_string();
    if error.is_eof() { JsonError::Truncated(wrong) } else { JsonError::Invalid(wrong) }
}

/// A JSON string in which half surrogate pairs, which are no text, are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossyText(pub String);

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = LossyText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<LossyText, E> {
                Ok(LossyText(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        reader.deserialize_bytes(Bytes)
    }
}

/// What is wrong with a JSON text and where, without the words of the parser and of Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongJson {
    /// What is wrong.
    pub what: String,
    /// The line, from 1 on; 0 if the place is not known.
    pub line: usize,
    /// The column in bytes, from 1 on; 0 before the first byte of a line.
    pub column: usize,
}

impl WrongJson {
    /// Describes an error of the parser.
    #[must_use]
    pub fn new(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
        Self { what: in_plain_words(what), line, column }
    }
}

impl fmt::Display for WrongJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match self.line {
            0 => Ok(()),
            line => write!(f, " (line {line}, column {})", self.column),
        }
    }
}

/// Says what an error of a parser for JSON or TOML says, without the names of Rust's types.
#[must_use]
pub fn in_plain_words(what: &str) -> String {
    let plain = match what.split_once(", expected ") {
        Some((found, expected)) => format!("{found}, expected {}", kind(expected)),
        None => what.to_owned(),
    };
    match plain.as_str() {
        "expected ident" => "unknown word".to_owned(),
        "expected value" => "expected a value".to_owned(),
        "trailing characters" => "unexpected text after the end".to_owned(),
        "EOF while parsing a value" => "the text ends where a value is expected".to_owned(),
        _ if what.starts_with("control character") => {
            "a string contains a line break or another control character".to_owned()
        }
        _ => {
            let words = [
                ("EOF while parsing", "the text ends inside"),
                ("invalid type: ", "found "),
                ("invalid value: ", "found "),
                ("unknown variant", "unknown value"),
                ("found integer", "found number"),
                ("found floating point", "found number"),
                ("found sequence", "found a list"),
                ("found map", "found an object"),
            ];
            words.iter().fold(plain, |text, (rust, plain)| text.replacen(rust, plain, 1))
        }
    }
}

/// The kind of value that a type of Rust stands for.
fn kind(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "an object",
        other if other.starts_with("struct ") => "an object",
        other => other,
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
    fn errors_are_in_plain_words() {
        for (text, expected) in [
            ("{\"a\": foo}", "unknown word (line 1, column 8)"),
            ("{\"a\": [1", "the text ends inside a list (line 1, column 8)"),
            ("{} x", "unexpected text after the end (line 1, column 4)"),
            ("", "the text ends where a value is expected (line 1, column 0)"),
        ] {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            assert_eq!(WrongJson::new(&error).to_string(), expected, "{text}");
        }
        for (rust, plain) in [
            ("invalid type: map, expected a string", "found an object, expected a string"),
            (
                "invalid value: integer `-4`, expected u64",
                "found number `-4`, expected a whole number, 0 or more",
            ),
            ("invalid type: sequence, expected a map", "found a list, expected an object"),
            ("unknown variant `x`, expected `a` or `b`", "unknown value `x`, expected `a` or `b`"),
        ] {
            assert_eq!(in_plain_words(rust), plain);
        }
    }

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
