//! The members of an object in an answer.

use serde_json::{Map, Value};

use super::unreadable::{Read, Unreadable};

pub(super) type Members = Map<String, Value>;

/// Whether a value is empty.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a member is present and not empty.
pub(super) fn has(members: &Members, name: &str) -> bool {
    members.get(name).is_some_and(|value| !is_nothing(value))
}

/// The text of a member; empty if it is something else.
pub(super) fn text<'m>(members: &'m Members, name: &str) -> &'m str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A member that must be a text or missing.
pub(super) fn only_text<'m>(members: &'m Members, name: &str) -> Read<&'m str> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Unreadable::Words),
    }
}

/// A member that must be a list or missing.
pub(super) fn list<'m>(members: &'m Members, name: &str) -> Read<&'m [Value]> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(Unreadable::Place),
    }
}

/// A member that must be an index or missing.
pub(super) fn place(members: &Members, name: &str) -> Read<Option<usize>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let at = value.as_u64().and_then(|at| usize::try_from(at).ok());
            at.map(Some).ok_or(Unreadable::Place)
        }
    }
}

pub(super) fn object(value: &Value) -> Read<&Members> {
    value.as_object().ok_or(Unreadable::Place)
}
