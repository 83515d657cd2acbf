use serde_json::Value;

use crate::issue::below;

/// Calls `found` with the pointer and text of every string in a value, at any depth.
pub(crate) fn each_text<'v>(
    value: &'v Value,
    found: &mut impl FnMut(&dyn Fn() -> String, &'v str),
) {
    walk(value, &Place::Root, found);
}

/// The position of a value, turned into a pointer only on demand.
enum Place<'p> {
    Root,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, name) => below(&parent.pointer(), name),
            Self::Item(parent, at) => below(&parent.pointer(), &at.to_string()),
        }
    }
}

fn walk<'v>(
    value: &'v Value,
    place: &Place<'_>,
    found: &mut impl FnMut(&dyn Fn() -> String, &'v str),
) {
    match value {
        Value::String(text) => found(&|| place.pointer(), text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(item, &Place::Item(place, at), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                walk(member, &Place::Member(place, name), found);
            }
        }
        _ => {}
    }
}

/// The parameter name in a pointer: its last segment that is not an index.
pub(crate) fn parameter_name(pointer: &str) -> &str {
    pointer
        .rsplit('/')
        .find(|segment| !segment.is_empty() && !segment.bytes().all(|b| b.is_ascii_digit()))
        .unwrap_or_default()
}
