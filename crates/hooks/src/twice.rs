//! Finds members that occur twice in an object. Readers differ in which one counts, so it is not
//! known what the agent reads.

use std::collections::BTreeSet;
use std::fmt;

use counterfoil_formats::mended_json;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The name of a member that occurs twice in one of the objects of a JSON text.
pub(crate) fn twice(sent: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(sent.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sent));
    let found = serde_json::from_str::<Found>(&text);
    let found = found.or_else(|_| serde_json::from_str::<Found>(&mended_json(&text)));
    found.ok().and_then(|found| found.0)
}

/// The first such name in a value.
#[derive(Default)]
struct Found(Option<String>);

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Search)
    }
}

struct Search;

impl<'de> Visitor<'de> for Search {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let (mut seen, mut found) = (BTreeSet::new(), Found::default());
        while let Some(name) = map.next_key::<String>()? {
            let Found(inner) = map.next_value()?;
            if found.0.is_none() {
                found.0 = inner.or_else(|| seen.contains(&name).then(|| name.clone()));
            }
            seen.insert(name);
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Found, A::Error> {
        let mut found = Found::default();
        while let Some(Found(inner)) = items.next_element()? {
            found.0 = found.0.or(inner);
        }
        Ok(found)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::default())
    }
}

#[cfg(test)]
mod tests {
    use super::twice;

    #[test]
    fn a_member_that_comes_twice_is_found_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":1,"b":{"a":[1,2.5,null,true,"x"]}}"#, None),
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"{"a":1,"\u0061":2}"#, Some("a")),
            (r#"{"a":[{"b":1,"c":2,"b":3}]}"#, Some("b")),
            ("\u{feff}{\"a\":1,\"a\":2}", Some("a")),
            (r#"{"a":"\ud800","a":2}"#, Some("a")),
            ("no json", None),
        ] {
            assert_eq!(twice(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
