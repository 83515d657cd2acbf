use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use counterfoil_model::{Arguments, LossyText};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of one JSON object in order, with unparsed values.
///
/// Readers take the members they know; any left at the end are reported as skipped.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    members: Vec<(Cow<'a, str>, Option<&'a RawValue>)>,
    /// Keys that occur more than once; the last value counts.
    pub(crate) repeated: Vec<String>,
}

impl<'a> Fields<'a> {
    /// Splits the text of one object.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Splits a value; `None` when it is not an object.
    pub(crate) fn from_value(raw: &'a RawValue) -> Option<Self> {
        raw.get().starts_with('{').then(|| Self::parse(raw.get()).ok()).flatten()
    }

    /// Takes the value of a member. `null` counts as absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        self.take_any(name).filter(|raw| raw.get() != "null")
    }

    /// Takes the value of a member, `null` included.
    pub(crate) fn take_any(&mut self, name: &str) -> Option<&'a RawValue> {
        let member = self.members.iter_mut().find(|(key, raw)| raw.is_some() && key == name)?;
        member.1.take()
    }

    /// Takes a member that is a string.
    pub(crate) fn string(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.take(name).and_then(string)
    }

    /// Takes a member that is `true` or `false`.
    pub(crate) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.take(name).and_then(|raw| raw.get().parse().ok())
    }

    /// Takes a member that is a number (or a string of digits) and in the range of `N`.
    pub(crate) fn number<N: std::str::FromStr>(&mut self, name: &str) -> Option<N> {
        let raw = self.take(name)?.get();
        let digits = raw.trim_matches('"');
        digits.strip_suffix(".0").unwrap_or(digits).parse().ok()
    }

    /// Takes a member that is an array.
    pub(crate) fn array(&mut self, name: &str) -> Option<Vec<&'a RawValue>> {
        self.take(name).and_then(array)
    }

    /// Takes a member that is an object.
    pub(crate) fn object(&mut self, name: &str) -> Option<Self> {
        self.take(name).and_then(Self::from_value)
    }

    /// Drops members that carry nothing worth keeping.
    pub(crate) fn pass_over(&mut self, names: &[&str]) {
        for name in names {
            self.take_any(name);
        }
    }

    /// Whether the member exists and has not been taken yet.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(key, raw)| raw.is_some() && key == name)
    }

    /// The members that have not been taken.
    pub(crate) fn left(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter().filter_map(|(key, raw)| raw.map(|raw| (key.as_ref(), raw)))
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(Members)
    }
}

struct Members;

/// Above this number of members, a set is used to find repeated keys.
const FEW: usize = 32;

impl<'de> Visitor<'de> for Members {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Option<&'de RawValue>)> = Vec::with_capacity(16);
        let mut repeated = Vec::new();
        let mut seen: Option<HashSet<Cow<'de, str>>> = None;
        while let Some(Key(key)) = map.next_key()? {
            let value: &'de RawValue = map.next_value()?;
            let is_repeated = match &mut seen {
                Some(seen) => !seen.insert(key.clone()),
                None => members.iter().any(|(other, _)| *other == key),
            };
            if is_repeated {
                repeated.push(key.clone().into_owned());
                if let Some(member) = members.iter_mut().find(|(other, _)| *other == key) {
                    member.1 = Some(value);
                }
                continue;
            }
            members.push((key, Some(value)));
            if seen.is_none() && members.len() > FEW {
                seen = Some(members.iter().map(|(key, _)| key.clone()).collect());
            }
        }
        Ok(Fields { members, repeated })
    }
}

/// A key, borrowed unless it contains an escape.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        reader.deserialize_str(Text)
    }
}

/// The decoded text of a JSON string; `None` for any other value. An unpaired surrogate, as in logs
/// that cut text in the middle of a character, is replaced.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    if let Some(text) = unescaped(inner) {
        return Some(Cow::Owned(text));
    }
    match serde_json::from_str::<String>(raw.get()) {
        Ok(text) => Some(Cow::Owned(text)),
        Err(_) => {
            serde_json::from_str::<LossyText>(raw.get()).ok().map(|lossy| Cow::Owned(lossy.0))
        }
    }
}

/// Resolves short escapes in one pass; `None` if there is a `\u` escape, which is left to the
/// parser.
fn unescaped(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let escaped = *rest.as_bytes().get(at + 1)?;
        text.push(match escaped {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(escaped),
            _ => return None,
        });
        rest = rest.get(at + 2..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// An element of a list of blocks.
pub(crate) enum Element<'a> {
    /// An object, split.
    Object(Fields<'a>),
    /// A string, decoded.
    Text(Cow<'a, str>),
    /// Anything else.
    Other,
}

/// The elements of a JSON array, with objects already split. `None` for any other value, and for
/// arrays that only [`array`] can read.
pub(crate) fn elements(raw: &RawValue) -> Option<Vec<Element<'_>>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

impl<'de> Deserialize<'de> for Element<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Element<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a block")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Element<'de>, A::Error> {
                Members.visit_map(map).map(Element::Object)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Element<'de>, E> {
                Ok(Element::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Element<'de>, E> {
                Ok(Element::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Element<'de>, E> {
                Ok(Element::Other)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Element<'de>, E> {
                Ok(Element::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Element<'de>, E> {
                Ok(Element::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Element<'de>, E> {
                Ok(Element::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Element<'de>, E> {
                Ok(Element::Other)
            }
        }
        reader.deserialize_any(Any)
    }
}

/// The elements of a JSON array; `None` for any other value.
pub(crate) fn array(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// Arguments as emitted: the content of a string, the JSON of any other value, `{}` if absent.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Arguments {
    match raw {
        None => Arguments::raw("{}"),
        Some(raw) => match string(raw) {
            Some(text) => Arguments::raw(text),
            None => Arguments::raw(raw.get()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_and_leaves() {
        let mut fields =
            Fields::parse(r#"{"a":"x\n","b":null,"n":3.0,"\u0063":[1],"a":"y","d":{"e":true}}"#)
                .unwrap();
        assert_eq!(fields.repeated, ["a"]);
        assert_eq!(fields.string("a").as_deref(), Some("y"));
        assert_eq!(fields.string("a"), None);
        assert!(fields.take("b").is_none());
        assert_eq!(fields.number::<i32>("n"), Some(3));
        assert_eq!(fields.object("d").and_then(|mut d| d.boolean("e")), Some(true));
        assert_eq!(fields.left().map(|(key, _)| key).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn half_a_character_is_replaced() {
        let raw: &RawValue = serde_json::from_str(r#""cut \ud83d""#).unwrap();
        assert_eq!(string(raw).unwrap(), "cut \u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn many_members_stay_linear() {
        let text = format!(
            "{{{}}}",
            (0..20_000).map(|i| format!("\"k{i}\":0")).collect::<Vec<_>>().join(",")
        );
        assert_eq!(Fields::parse(&text).unwrap().left().count(), 20_000);
    }
}
