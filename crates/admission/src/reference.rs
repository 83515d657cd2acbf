//! Finds references in a schema that have no target.

use std::collections::HashSet;

use serde_json::Value;

use crate::dialect::{DATA, Name, REFERENCES, decoded, each_name, without};
use crate::issue::below;
use crate::schema::Remotes;

/// Maximum depth at which schemas are looked at.
const DEEPEST: usize = 64;

/// Removes every reference without a target. Returns the places of what was removed.
pub(crate) fn without_dangling(schema: &mut Value, remotes: &Remotes) -> Vec<String> {
    let document = schema.clone();
    let mut names = HashSet::new();
    each_name(&document, DEEPEST, &mut |name, _| {
        names.insert(match name {
            Name::Anchor(name) => format!("#{name}"),
            Name::Id(id) => id.to_owned(),
        });
    });
    let mut walk = Walk { names, remotes, found: Vec::new() };
    walk.schema(&document, &document, "", 0);
    walk.found.iter().filter_map(|place| without(schema, place)).collect()
}

/// Whether a schema restricts nothing but the type; if so, its values are not checked.
pub(crate) fn checks_nothing(schema: &Value) -> bool {
    const SAY_NOTHING: [&str; 9] = [
        "$schema",
        "$id",
        "id",
        "$defs",
        "definitions",
        "$comment",
        "title",
        "description",
        "type",
    ];
    let names = schema.as_object().into_iter().flat_map(|members| members.keys());
    names.into_iter().all(|name| SAY_NOTHING.contains(&name.as_str()))
}

struct Walk<'r> {
    names: HashSet<String>,
    remotes: &'r Remotes,
    found: Vec<String>,
}

impl Walk<'_> {
    /// Looks for dangling references in `schema`; its JSON Pointers are relative to `root`.
    fn schema(&mut self, root: &Value, schema: &Value, place: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match schema {
            Value::Object(members) => {
                let own = members.get("$id").and_then(Value::as_str);
                let root = if own.is_some_and(|id| !id.starts_with('#')) { schema } else { root };
                for (name, value) in members {
                    let place = below(place, name);
                    // `properties` may have a member with that name.
                    if REFERENCES.contains(&name.as_str()) && !value.is_object() {
                        let leads = value.as_str().is_some_and(|to| self.leads(root, to));
                        if !leads && !value.is_boolean() {
                            self.found.push(place);
                        }
                    } else if !DATA.contains(&name.as_str()) {
                        self.schema(root, value, &place, depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.schema(root, item, &below(place, &at.to_string()), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Whether a reference has a target.
    fn leads(&self, root: &Value, reference: &str) -> bool {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !is_escaped(fragment) {
            return false;
        }
        if !document.is_empty() {
            return self.remotes.has(document)
                || document.contains("json-schema.org/")
                || self.names.iter().any(|id| {
                    let id = id.trim_end_matches('#');
                    !id.is_empty() && (document.ends_with(id) || id.ends_with(document))
                });
        }
        match fragment {
            "" => true,
            pointer if pointer.starts_with('/') => root.pointer(&decoded(pointer)).is_some(),
            anchor => {
                self.names.contains(&format!("#{anchor}"))
                    || self.names.contains(&format!("#{}", decoded(anchor)))
            }
        }
    }
}

/// Whether every `%` begins a valid escape.
fn is_escaped(fragment: &str) -> bool {
    fragment.split('%').skip(1).all(|rest| {
        rest.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    })
}
