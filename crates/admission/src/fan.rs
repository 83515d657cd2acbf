//! Detects schemas whose references fan out: a few lines that take exponential time to check.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Maximum number of steps per place of a value.
const MOST: u64 = 200_000;
/// Maximum number of levels followed; deeper ones count as zero.
const LEVELS: usize = 512;

/// Keywords whose schemas apply to the same value.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SINGLE: [&str; 4] = ["not", "if", "then", "else"];
const NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords whose schemas apply to parts of the value.
const PARTS: [&str; 8] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "prefixItems",
];
const NAMED_PARTS: [&str; 2] = ["properties", "patternProperties"];

/// Whether checking one place of a value against this schema may take too many steps.
///
/// Counts the schemas applied to the same place, and below each of them the schemas applied to one
/// part. The size of a value is limited, but every reference may lead to two more.
pub(crate) fn fans_out(source: &Value) -> bool {
    let mut walk = Walk { root: source, names: HashMap::new(), weights: HashMap::new() };
    walk.collect(source, 0);
    walk.weight(source, 0) > MOST
}

struct Walk<'s> {
    root: &'s Value,
    /// Schemas by the names that references use.
    names: HashMap<String, &'s Value>,
    /// Known weights of reference targets; targets still being counted weigh nothing.
    weights: HashMap<*const Value, u64>,
}

impl<'s> Walk<'s> {
    fn collect(&mut self, value: &'s Value, level: usize) {
        if level > LEVELS {
            return;
        }
        match value {
            Value::Object(members) => {
                for key in ["$anchor", "$dynamicAnchor"] {
                    if let Some(Value::String(name)) = members.get(key) {
                        self.names.insert(format!("#{name}"), value);
                    }
                }
                for key in ["$id", "id"] {
                    if let Some(Value::String(name)) = members.get(key) {
                        self.names.insert(name.clone(), value);
                    }
                }
                members.values().for_each(|member| self.collect(member, level + 1));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, level + 1)),
            _ => {}
        }
    }

    fn weight(&mut self, schema: &'s Value, level: usize) -> u64 {
        let Value::Object(members) = schema else { return 1 };
        if level > LEVELS {
            return 1;
        }
        let mut same = 1_u64;
        for part in in_place(members) {
            same = same.saturating_add(self.weight(part, level + 1));
        }
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Value::String(reference)) = members.get(key) {
                same = same.saturating_add(self.referred(reference, level));
            }
        }
        let below = parts(members).map(|part| self.weight(part, level + 1)).max();
        same.saturating_add(below.unwrap_or(0))
    }

    fn referred(&mut self, reference: &str, level: usize) -> u64 {
        let Some(target) = self.target(reference) else { return 1 };
        let key = std::ptr::from_ref(target);
        if let Some(known) = self.weights.get(&key) {
            return *known;
        }
        self.weights.insert(key, 0);
        let weight = self.weight(target, level + 1);
        self.weights.insert(key, weight);
        weight
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        if let Some(named) = self.names.get(reference) {
            return Some(named);
        }
        match reference.split_once('#')? {
            (_, "") => Some(self.root),
            (_, pointer) => self.root.pointer(&pointer.replace("%25", "%")),
        }
    }
}

fn in_place(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = LISTS.iter().filter_map(|key| members.get(*key)?.as_array()).flatten();
    let single = SINGLE.iter().filter_map(|key| members.get(*key));
    let named = NAMED.iter().filter_map(|key| members.get(*key)?.as_object());
    lists.chain(single).chain(named.flat_map(Map::values))
}

fn parts(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let parts = PARTS.iter().filter_map(|key| members.get(*key));
    let lists = parts.clone().filter_map(Value::as_array).flatten();
    let named = NAMED_PARTS.iter().filter_map(|key| members.get(*key)?.as_object());
    parts.chain(lists).chain(named.flat_map(Map::values))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bomb(levels: usize, fan: impl Fn(Value) -> Value) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            definitions.insert(format!("d{level}"), fan(next));
        }
        definitions.insert(format!("d{levels}"), json!({ "type": "object" }));
        json!({ "$defs": definitions, "$ref": "#/$defs/d0" })
    }

    #[test]
    fn references_that_double_fan_out() {
        for keyword in LISTS {
            let doubled = |next: Value| json!({ keyword: [next, next] });
            assert!(fans_out(&bomb(22, doubled)), "{keyword}");
            assert!(!fans_out(&bomb(10, doubled)), "{keyword}");
        }
        let below = |next: Value| {
            let part = json!({ "properties": { "a": next } });
            json!({ "anyOf": [part, part] })
        };
        assert!(fans_out(&bomb(22, below)));
    }

    #[test]
    fn trees_unions_and_many_members_do_not() {
        let tree = json!({ "$ref": "#/$defs/node", "$defs": { "node": {
            "properties": { "left": { "$ref": "#/$defs/node" }, "right": { "$ref": "#/$defs/node" } },
            "anyOf": [{ "$ref": "#" }, { "type": "null" }],
        } } });
        assert!(!fans_out(&tree));
        assert!(!fans_out(&bomb(200, |next| json!({ "properties": { "a": next, "b": next } }))));
        let wide: Vec<Value> = (0..500).map(|i| json!({ "const": i })).collect();
        assert!(!fans_out(&json!({ "items": { "oneOf": wide } })));
    }
}
