//! Reads the members of a JSON object one by one, without building their values.
//!
//! A value that strict JSON refuses (half a surrogate pair, `1e400`, any nesting) does not hide
//! other members.

use std::fmt;

use counterfoil_model::LossyText;
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// Passes each member of a JSON object, with its name in lower case and its raw value, to a
/// function; the value is `None` if the text is cut off in it.
pub(crate) fn each_raw(text: &str, look: impl FnMut(&str, Option<&str>)) {
    let mut reader = serde_json::Deserializer::from_str(text);
    // What comes before an error counts.
    let _ = reader.deserialize_map(Members(look));
}

/// Visits the members of an object.
struct Members<L>(L);

impl<'de, L: FnMut(&str, Option<&str>)> Visitor<'de> for Members<L> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(LossyText(name)) = map.next_key()? {
            let value = map.next_value::<&RawValue>();
            (self.0)(&name.to_ascii_lowercase(), value.as_ref().ok().map(|value| value.get()));
            value?;
        }
        Ok(())
    }
}

/// Whether a list or an object is empty.
pub(crate) fn is_empty(written: &str, opens: char, closes: char) -> bool {
    let inner = written.strip_prefix(opens).and_then(|rest| rest.strip_suffix(closes));
    inner.is_some_and(|inner| inner.trim().is_empty())
}
