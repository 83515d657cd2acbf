mod serializer;

use std::cmp::Ordering;
use std::fmt;
use std::io::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest. Shown as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of raw bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a JSON value: of its canonical bytes.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of_bytes(&canonical_bytes(value))
    }

    /// A digest that was written as 64 hex digits; `None` for anything else.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return None;
        }
        let digit = |hex: u8| u8::try_from(char::from(hex).to_digit(16)?).ok();
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }

    /// A digest of which the bytes are known.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
        let mut hex = [0; 64];
        let (pairs, _) = hex.as_chunks_mut::<2>();
        for ([high, low], byte) in pairs.iter_mut().zip(self.0) {
            (*high, *low) = (digit(byte >> 4), digit(byte & 15));
        }
        f.write_str(str::from_utf8(&hex).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| D::Error::custom("a digest has 64 hex digits"))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The canonical bytes of a JSON value (RFC 8785): members sorted by UTF-16 code units, numbers
/// as ECMAScript prints them, no white space.
///
/// `1` and `1.0` have the same bytes; key order and spacing in the source do not matter.
#[must_use]
pub fn canonical_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(value, &mut out);
    out
}

/// The canonical bytes of what serde can write: those of its JSON value, without making one.
///
/// # Errors
/// When it cannot be written as JSON, or has a member twice.
pub fn canonical_bytes_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::with_capacity(1024);
    value.serialize(serializer::Canonical(&mut out))?;
    Ok(out)
}

/// The order of members.
fn by_utf16(a: &str, b: &str) -> Ordering {
    // Only where a character is U+E000 or above do the units of UTF-16 have another order than the
    // bytes of UTF-8.
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x < 0xee && y < 0xee => x.cmp(&y),
        Some(_) => a.encode_utf16().cmp(b.encode_utf16()),
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|(a, _), (b, _)| by_utf16(a, b));
            out.push(b'{');
            for (i, (key, item)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                write_value(item, out);
            }
            out.push(b'}');
        }
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // serde_json escapes exactly what RFC 8785 asks for, and writing to memory cannot fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok());
}

/// ECMAScript's Number::toString. Integers beyond 2^53 become doubles, as in JavaScript.
fn write_number(number: &Number, out: &mut Vec<u8>) {
    const EXACT: u64 = 1 << 53;
    let written = match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(n), _, _) if n <= EXACT => write!(out, "{n}"),
        (_, Some(n), _) if n.unsigned_abs() <= EXACT => write!(out, "{n}"),
        (_, _, Some(n)) => out.write_all(ecmascript_number(n).as_bytes()),
        _ => write!(out, "{number}"),
    };
    debug_assert!(written.is_ok());
}

fn ecmascript_number(n: f64) -> String {
    if n == 0.0 {
        return "0".to_owned();
    }
    // The shortest digits that read back as the same double, and the exponent of the first one.
    let scientific = format!("{:e}", n.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1;
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let body = if (count..=21).contains(&point) {
        format!("{digits}{}", zeros(point - count))
    } else if (1..=21).contains(&point) {
        let (whole, rest) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{rest}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{sign}{}", exponent.abs())
    };
    if n < 0.0 { format!("-{body}") } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn digests_are_hex_digits() {
        let hex = "00ff10a99f0e5c4bd8c3b2a1908f7e6d5c4b3a29181706f5e4d3c2b1a0987654";
        let digest = Digest::from_hex(hex).unwrap();
        assert_eq!(digest.to_string(), hex);
        assert_eq!(Digest::from_hex(&hex.to_uppercase()), Some(digest));
        let (shorter, longer) = (hex.replacen('0', "", 1), format!("{hex}00"));
        let (other, signed) = (hex.replace('f', "g"), hex.replacen('0', "+", 1));
        for text in ["", "00", &shorter, &longer, &other, &signed] {
            assert_eq!(Digest::from_hex(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_print_as_ecmascript_prints_them() {
        for (n, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (5e-324, "5e-324"),
            (-5e-324, "-5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (1e21, "1e+21"),
            (1e23, "1e+23"),
            (999_999_999_999_999_900_000.0, "999999999999999900000"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (4.5, "4.5"),
            (-1234.5678, "-1234.5678"),
            (333_333_333.333_333_3, "333333333.3333333"),
        ] {
            assert_eq!(String::from_utf8(canonical_bytes(&json!(n))).unwrap(), text);
        }
    }

    #[test]
    fn what_serde_can_write_has_the_bytes_of_its_value() {
        #[derive(Serialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        enum Tagged {
            Whole(Inner),
            Part { z: Option<i8>, a: Vec<Untagged> },
            Nothing,
        }
        #[derive(Serialize)]
        struct Inner {
            z: f64,
            b: (u8, char, bool),
            map: std::collections::BTreeMap<&'static str, Option<()>>,
            value: Value,
            digest: Digest,
        }
        #[derive(Serialize)]
        enum Untagged {
            Unit,
            New(String),
            Two(u64, i64),
            Named { y: f32, x: [u8; 2] },
        }
        let value = json!({ "\u{20ac}": 1.0, "\u{1f600}": [1e21, -0.5, {}], "\r": "\"\n\u{1}" });
        let inner = Inner {
            z: f64::NAN,
            b: (1, '\u{e9}', true),
            map: [("b", None), ("a", Some(())), ("\u{fffd}", None), ("\u{10000}", None)].into(),
            value,
            digest: Digest::of_bytes(b""),
        };
        let parts = vec![
            Untagged::Unit,
            Untagged::New("x\\y".to_owned()),
            Untagged::Two(u64::MAX, i64::MIN),
            Untagged::Named { y: 0.5, x: [1, 2] },
        ];
        let cases = [Tagged::Whole(inner), Tagged::Part { z: None, a: parts }, Tagged::Nothing];
        for case in &cases {
            let value = serde_json::to_value(case).unwrap();
            let direct = String::from_utf8(canonical_bytes_of(case).unwrap()).unwrap();
            assert_eq!(direct, String::from_utf8(canonical_bytes(&value)).unwrap());
        }
        let twice = std::collections::BTreeMap::from([(1_u8, ())]);
        assert!(canonical_bytes_of(&twice).is_err(), "a number is no name");
    }

    #[test]
    fn members_are_sorted_and_bytes_do_not_depend_on_the_source() {
        let a: Value = serde_json::from_str(
            "{ \"\u{20ac}\": 1.0, \"\\r\": 2, \"1\": [true, null], \"\u{1f600}\": \"\\u000f\\n\" }",
        )
        .unwrap();
        let text = String::from_utf8(canonical_bytes(&a)).unwrap();
        assert_eq!(
            text,
            "{\"\\r\":2,\"1\":[true,null],\"\u{20ac}\":1,\"\u{1f600}\":\"\\u000f\\n\"}"
        );
        let again: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(Digest::of_json(&again), Digest::of_json(&a));
    }
}
