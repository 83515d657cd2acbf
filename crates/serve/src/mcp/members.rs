use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of members per object.
pub(crate) const MOST_MEMBERS: usize = 50_000;

/// The members of an object in order, with verbatim values. A repeated name is an error, because
/// the next reader might choose the other value; so is an object with more than [`MOST_MEMBERS`].
#[derive(Debug)]
pub(crate) struct Members<'m>(pub(crate) Vec<(String, &'m RawValue)>);

impl<'m> Members<'m> {
    pub(crate) fn get(&self, name: &str) -> Option<&'m RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The object with one member set; all other values stay verbatim.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let others = self
            .0
            .iter()
            .map(|(known, raw)| (known.as_str(), if known == name { value } else { raw.get() }));
        let new = self.get(name).is_none().then_some((name, value));
        written(others.chain(new))
    }

    /// The object without one member.
    pub(crate) fn without(&self, name: &str) -> String {
        let others = self.0.iter().filter(|(known, _)| known != name);
        written(others.map(|(known, raw)| (known.as_str(), raw.get())))
    }

    /// The error for a name that differs from one of `known` only in case, which a case-insensitive
    /// reader would confuse.
    pub(crate) fn lookalike(&self, known: &[&str]) -> Option<String> {
        let names = self.0.iter().map(|(name, _)| name.as_str());
        names.filter(|name| !known.contains(name)).find_map(|name| {
            let same = known.iter().find(|known| is_but_for_case(name, known))?;
            Some(format!("the member `{name}` differs from `{same}` only in letter case"))
        })
    }
}

/// Serialises an object from these members; values are JSON.
pub(crate) fn written<'t>(members: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let mut text = String::from("{");
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::Value::from(name).to_string());
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// Whether two names differ only in case, including Unicode letters that fold to ASCII: `ſ` is an
/// `s`, and the Kelvin sign a `k`.
fn is_but_for_case(name: &str, known: &str) -> bool {
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(known);
    }
    let folded = |text: &str| {
        let upper = text.chars().flat_map(char::to_uppercase);
        upper.flat_map(char::to_lowercase).collect::<String>()
    };
    // A character of up to three bytes folds to at least one byte.
    name.len() <= known.len() * 3 && folded(name) == folded(known)
}

impl<'de: 'm, 'm> Deserialize<'de> for Members<'m> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members: Vec<(String, &'de RawValue)> = Vec::new();
        let mut many = BTreeSet::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            if members.len() >= MOST_MEMBERS {
                let what = format!("an object has more than {MOST_MEMBERS} members");
                return Err(A::Error::custom(what));
            }
            if members.len() == FEW {
                many.extend(members.iter().map(|(known, _)| known.clone()));
            }
            // For a handful of members, a linear search is faster than a set.
            let twice = match members.len() < FEW {
                true => members.iter().any(|(known, _)| *known == name),
                false => !many.insert(name.clone()),
            };
            if twice {
                return Err(A::Error::custom(format!("the member `{name}` appears twice")));
            }
            members.push((name, value));
        }
        Ok(Members(members))
    }
}

/// Up to this many members are searched linearly.
const FEW: usize = 16;

/// A member of an object, if there is one that can be read.
pub(super) fn member(raw: &RawValue, name: &str) -> Option<Value> {
    readable_member(raw, name).ok().flatten()
}

/// A member of an object, if there is one.
///
/// # Errors
/// When the object or the member cannot be read.
pub(super) fn readable_member(raw: &RawValue, name: &str) -> serde_json::Result<Option<Value>> {
    let members: Members<'_> = serde_json::from_str(raw.get())?;
    members.get(name).map(|raw| serde_json::from_str(raw.get())).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_is_set_and_the_rest_stays() {
        let text = r#"{"id": 12345678901234567890, "result": {"b" : 1.50}}"#;
        let members: Members<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(members.with("result", "{}"), r#"{"id":12345678901234567890,"result":{}}"#);
        assert_eq!(
            members.with("new", "1"),
            r#"{"id":12345678901234567890,"result":{"b" : 1.50},"new":1}"#
        );
        assert_eq!(members.without("id"), r#"{"result":{"b" : 1.50}}"#);
        assert!(serde_json::from_str::<Members<'_>>(r#"{"a":1,"a":2}"#).is_err());
    }

    #[test]
    fn many_members_are_read_in_one_pass_up_to_a_limit() {
        let object = |count: usize, last: &str| {
            let members: Vec<String> = (0..count).map(|n| format!(r#""k{n}":1"#)).collect();
            format!("{{{},{last}}}", members.join(","))
        };
        for (count, last, wrong) in [
            (10, r#""k3":1"#, Some("the member `k3` appears twice")),
            (16, r#""k3":1"#, Some("the member `k3` appears twice")),
            (17, r#""k16":1"#, Some("the member `k16` appears twice")),
            (40_000, r#""k39999":1"#, Some("the member `k39999` appears twice")),
            (MOST_MEMBERS - 1, r#""last":1"#, None),
            (MOST_MEMBERS, r#""last":1"#, Some("an object has more than 50000 members")),
        ] {
            let text = object(count, last);
            let read = serde_json::from_str::<Members<'_>>(&text).map(|members| members.0.len());
            match wrong {
                None => assert_eq!(read.unwrap(), count + 1),
                Some(wrong) => assert!(read.unwrap_err().to_string().starts_with(wrong), "{last}"),
            }
        }
    }

    #[test]
    fn names_that_differ_only_in_case_are_found() {
        for (name, odd) in [
            ("method", false),
            ("Method", true),
            ("METHOD", true),
            ("methods", false),
            ("paramſ", true),
            ("\u{212a}ind", true),
        ] {
            let text = format!(r#"{{"{name}":1}}"#);
            let members: Members<'_> = serde_json::from_str(&text).unwrap();
            let found = members.lookalike(&["method", "params", "kind"]);
            assert_eq!(found.is_some(), odd, "{name}: {found:?}");
        }
    }
}
