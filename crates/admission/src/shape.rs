use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::issue::below;

/// Maximum depth of declared members; schemas may be recursive.
const DEEPEST: usize = 8;
/// Maximum number of declared members, because references may lead to the same ones again and again.
const MOST: usize = 10_000;

/// The members that a schema declares, if it neither forbids nor explicitly allows others.
///
/// A schema without `additionalProperties` accepts every member, so validation does not catch
/// misspelt ones. `declared` is `None` if nothing can be said at this level (because of
/// composition, patterns, or explicitly allowed members); nested members may still be checked.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    declared: Option<HashSet<String>>,
    members: Vec<(String, Shape)>,
    items: Option<Box<Shape>>,
}

impl Shape {
    /// The shape of a schema.
    pub(crate) fn from_schema(root: &Value) -> Self {
        Self::at(root, root, DEEPEST, &mut { MOST })
    }

    fn at(root: &Value, schema: &Value, deeper: usize, room: &mut usize) -> Self {
        let Some(schema) = schema.as_object().and_then(|s| target(root, s)) else {
            return Self::default();
        };
        let (Some(deeper), Some(less)) = (deeper.checked_sub(1), room.checked_sub(1)) else {
            return Self::default();
        };
        *room = less;
        let properties = schema.get("properties").and_then(Value::as_object);
        let open_ended = OTHER_SOURCES.iter().any(|keyword| schema.contains_key(*keyword));
        let declared = properties
            .filter(|_| !open_ended)
            .map(|properties| properties.keys().cloned().collect());
        let members = properties
            .into_iter()
            .flatten()
            .map(|(name, inner)| (name.clone(), Self::at(root, inner, deeper, room)))
            .filter(|(_, shape)| shape.says_something())
            .collect();
        let items = schema
            .get("items")
            .map(|inner| Self::at(root, inner, deeper, room))
            .filter(Self::says_something)
            .map(Box::new);
        Self { declared, members, items }
    }

    fn says_something(&self) -> bool {
        self.declared.is_some() || !self.members.is_empty() || self.items.is_some()
    }

    /// Calls `found` with the pointer and value of every undeclared member.
    pub(crate) fn undeclared<'v>(
        &self,
        value: &'v Value,
        pointer: &str,
        found: &mut impl FnMut(String, &'v Value),
    ) {
        match value {
            Value::Object(members) => {
                if let Some(declared) = &self.declared {
                    for (name, inner) in members {
                        if !declared.contains(name) {
                            found(below(pointer, name), inner);
                        }
                    }
                }
                for (name, shape) in &self.members {
                    if let Some(inner) = members.get(name) {
                        shape.undeclared(inner, &below(pointer, name), found);
                    }
                }
            }
            Value::Array(items) => {
                let Some(shape) = &self.items else { return };
                for (at, item) in items.iter().enumerate() {
                    shape.undeclared(item, &below(pointer, &at.to_string()), found);
                }
            }
            _ => {}
        }
    }
}

/// Keywords that may allow (or already forbid) other members.
const OTHER_SOURCES: [&str; 12] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
    "dependencies",
    "$ref",
    "$dynamicRef",
    "propertyNames",
];

/// Follows references within the document; stops at one that has `properties` next to it.
fn target<'s>(root: &'s Value, schema: &'s Map<String, Value>) -> Option<&'s Map<String, Value>> {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        let pointer = reference.strip_prefix('#')?;
        if schema.contains_key("properties") || !(pointer.is_empty() || pointer.starts_with('/')) {
            return Some(schema);
        }
        schema = root.pointer(pointer)?.as_object()?;
    }
    None
}
