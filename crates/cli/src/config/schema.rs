use serde_json::{Map, Value};

/// Returns the JSON Schema of a configuration file.
#[cfg(feature = "guard")]
pub(crate) fn schema() -> Value {
    schemars::schema_for!(super::options::Options).to_value()
}

/// Returns the JSON Schema of the full build. The linter ignores keys that only others use, but
/// knows them, so that all builds accept the same files.
#[cfg(not(feature = "guard"))]
pub(crate) fn schema() -> Value {
    serde_json::from_str(include_str!("../../counterfoil.schema.json")).unwrap_or_default()
}

/// A node of the schema, with the root for resolving references.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'s> {
    root: &'s Value,
    here: &'s Value,
}

/// The kind of value that a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A table with known keys.
    Section,
    /// A table with any keys.
    Map,
    /// An array of tables.
    Tables,
    /// An array of anything else.
    Array,
    /// A string, possibly from a fixed set.
    Text,
    /// A number or a boolean.
    Other,
}

impl<'s> Node<'s> {
    pub(super) fn root(root: &'s Value) -> Self {
        Self { root, here: root }
    }

    fn at(self, here: &'s Value) -> Self {
        let mut here = here;
        loop {
            // `null` means that a key is not set, which TOML cannot express.
            let choices = here.get("anyOf").and_then(Value::as_array);
            let chosen = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice)));
            let referred = here
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| self.root.pointer(reference.trim_start_matches('#')));
            match chosen.or(referred) {
                Some(next) => here = next,
                None => return Self { root: self.root, here },
            }
        }
    }

    /// Returns the known keys of a section, in the order of the schema.
    pub(super) fn keys(self) -> impl Iterator<Item = (&'s str, Node<'s>)> {
        let properties = self.here.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(move |(key, inner)| (key.as_str(), self.at(inner)))
    }

    /// Returns the node of a key: a known key of a section, or any key of a map.
    pub(super) fn get(self, key: &str) -> Option<Node<'s>> {
        let known = self.here.get("properties").and_then(|known| known.get(key));
        let any = || self.here.get("additionalProperties").filter(|any| any.is_object());
        known.or_else(any).map(|inner| self.at(inner))
    }

    /// Returns the node of an array's elements.
    pub(super) fn items(self) -> Option<Node<'s>> {
        self.here.get("items").map(|inner| self.at(inner))
    }

    pub(super) fn kind(self) -> Kind {
        if self.here.get("properties").is_some() {
            Kind::Section
        } else if self.is("object") {
            Kind::Map
        } else if self.is("array") {
            match self.items().map(Node::kind) {
                Some(Kind::Section | Kind::Map) => Kind::Tables,
                _ => Kind::Array,
            }
        } else if self.is("string") {
            Kind::Text
        } else {
            Kind::Other
        }
    }

    /// Whether the node is a section with a list of known keys.
    pub(super) fn is_section(self) -> bool {
        self.kind() == Kind::Section
    }

    fn is(self, kind: &str) -> bool {
        let names = |value: &Value| match value.get("type") {
            Some(Value::String(name)) => name == kind,
            Some(Value::Array(names)) => names.iter().any(|name| name == kind),
            _ => false,
        };
        names(self.here)
            || self
                .here
                .get("oneOf")
                .and_then(Value::as_array)
                .is_some_and(|words| words.iter().all(names))
    }

    /// Returns every key that is not a section, with its path.
    pub(super) fn leaves(self) -> Vec<(Vec<&'s str>, Node<'s>)> {
        let mut leaves = Vec::new();
        for (key, node) in self.keys() {
            if node.is_section() {
                leaves.extend(node.leaves().into_iter().map(|(mut path, leaf)| {
                    path.insert(0, key);
                    (path, leaf)
                }));
            } else {
                leaves.push((vec![key], node));
            }
        }
        leaves
    }
}

fn is_null(schema: &Value) -> bool {
    let Some(schema): Option<&Map<String, Value>> = schema.as_object() else { return false };
    schema.get("type").is_some_and(|name| name == "null")
}
