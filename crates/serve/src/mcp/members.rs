use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, each value as it was written. A name that stands twice
/// is an error: whoever reads further would choose the other one.
#[derive(Debug)]
pub(crate) struct Members<'m>(pub(crate) Vec<(String, &'m RawValue)>);

impl<'m> Members<'m> {
    pub(crate) fn get(&self, name: &str) -> Option<&'m RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The object with one member set; every other value stays as it was written.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let mut text = String::from("{");
        let mut put = |name: &str, value: &str| {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::from(name).to_string());
            text.push(':');
            text.push_str(value);
        };
        for (known, raw) in &self.0 {
            put(known, if known == name { value } else { raw.get() });
        }
        if self.get(name).is_none() {
            put(name, value);
        }
        text.push('}');
        text
    }
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
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            if members.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format!("the member `{name}` appears twice")));
            }
            members.push((name, value));
        }
        Ok(Members(members))
    }
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
        assert!(serde_json::from_str::<Members<'_>>(r#"{"a":1,"a":2}"#).is_err());
    }
}
