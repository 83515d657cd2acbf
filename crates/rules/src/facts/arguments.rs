use std::borrow::Cow;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The top-level members of a call's arguments, with values as raw text.
#[derive(Debug, Default)]
pub(crate) struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> Members<'t> {
    /// Splits raw arguments; empty if they are not a JSON object.
    pub(crate) fn parse(raw: &'t str) -> Self {
        let mut reader = serde_json::Deserializer::from_str(raw);
        reader.deserialize_map(Split).unwrap_or_default()
    }

    /// The string member with that name.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'t, str>> {
        let (_, raw) = self.0.iter().find(|(key, _)| key == name)?;
        let raw = raw.get();
        if !raw.contains('\\') {
            return raw.strip_prefix('"')?.strip_suffix('"').map(Cow::Borrowed);
        }
        serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
    }

    /// The member with that name as a list of words: `["bash", "-lc", "…"]`.
    pub(crate) fn words(&self, name: &str) -> Option<Vec<String>> {
        let (_, raw) = self.0.iter().find(|(key, _)| key == name)?;
        serde_json::from_str(raw.get()).ok()
    }

    /// Whether there is a member with that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }
}

struct Split;

impl<'de> Visitor<'de> for Split {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(entry) = map.next_entry()? {
            members.push(entry);
        }
        Ok(Members(members))
    }
}
