//! The text of results and of blocks.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::fields::{self, Fields};
use crate::session::{self, Session};

/// The text of a result: a string, a list of blocks whose texts are joined by a line break, or any
/// other JSON verbatim.
pub(crate) fn result_text(raw: &RawValue, session: &mut Session) -> String {
    content_of(raw, session).0
}

/// The text of a result, and whether all of its parts were understood.
pub(crate) fn content_of(raw: &RawValue, session: &mut Session) -> (String, bool) {
    if let Some(text) = fields::string(raw) {
        return (text.into_owned(), true);
    }
    let Some(list) = fields::array(raw) else {
        let text = if raw.get() == "null" { String::new() } else { raw.get().to_owned() };
        return (text, true);
    };
    let mut text = String::new();
    let mut understood = true;
    for part in list {
        if let Some(part) = fields::string(part) {
            join(&mut text, &part);
            continue;
        }
        let mut fields = Fields::from_value(part);
        let kind = fields.as_mut().and_then(|fields| fields.string("type"));
        let found = fields.as_mut().and_then(|fields| fields.take("text")).and_then(text_member);
        match (found, kind) {
            (Some(found), _) => join(&mut text, &found),
            (None, Some(kind)) => {
                understood &= session::holds_no_call(&kind);
                session.skip_named("content block", &kind);
            }
            // A list of something other than blocks is the result itself.
            (None, None) => return (raw.get().to_owned(), true),
        }
    }
    (text, understood)
}

/// Appends a part on a line of its own.
pub(crate) fn join(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

/// The text of a member: a string, or an object with the string under `value`.
pub(crate) fn text_member(raw: &RawValue) -> Option<Cow<'_, str>> {
    fields::string(raw).or_else(|| Fields::from_value(raw)?.string("value"))
}
