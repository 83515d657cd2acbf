use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::canonical::{CanonicalForm, canonical_bytes, canonical_text};
use crate::json::JsonLimits;

/// A SHA-256 digest. Displayed as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of raw bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a JSON value's canonical bytes, in the current form.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of_bytes(&canonical_bytes(value))
    }

    /// The digest of a JSON value in this form, for comparison with a stored one.
    #[must_use]
    pub fn of_json_in(value: &Value, form: CanonicalForm) -> Option<Self> {
        let bytes = canonical_text(&value.to_string(), form, JsonLimits::RECORDED);
        bytes.ok().map(|bytes| Self::of_bytes(&bytes))
    }

    /// Parses 64 hex digits; `None` for anything else.
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

    /// The digest with these bytes.
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
        Self::from_hex(&text)
            .ok_or_else(|| D::Error::custom("a digest must have 64 hexadecimal digits"))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
