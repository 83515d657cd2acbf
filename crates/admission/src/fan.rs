//! Detects schemas whose references fan out: a few lines that take exponential time to check. The
//! steps of recursive schemas depend on the value, so they are counted for each value.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::dialect::{Name, REFERENCES, decoded, each_name};

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

/// How many steps checking a value against a schema may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fan {
    /// Few for each place of a value.
    Narrow,
    /// It depends on the value: see [`steps`].
    ByValue,
    /// Too many for a single place.
    TooWide,
}

/// Up to this many steps per place, the size of a value limits the steps enough.
const FEW: u64 = 256;

/// Whether checking one place of a value against this schema may take too many steps.
///
/// Counts the schemas applied to the same place, and below each of them the schemas applied to one
/// part. The size of a value is limited, but every reference may lead to two more.
pub(crate) fn fan(source: &Value) -> Fan {
    let mut walk = Walk::new(source);
    match walk.weight(source, 0) {
        weight if weight > MOST => Fan::TooWide,
        weight if weight > FEW || walk.recursive => Fan::ByValue,
        _ => Fan::Narrow,
    }
}

/// An upper bound on the steps of checking this value against this schema; `None` beyond `most`.
pub(crate) fn steps(source: &Value, value: &Value, most: u64) -> Option<u64> {
    let mut counting = Counting { walk: Walk::new(source), known: HashMap::new(), most };
    counting.steps(source, value, 0).filter(|steps| *steps <= most)
}

/// Counts the steps for pairs of a schema and a part of a value, each pair once.
struct Counting<'s> {
    walk: Walk<'s>,
    known: HashMap<(*const Value, *const Value), u64>,
    most: u64,
}

impl<'s> Counting<'s> {
    fn steps(&mut self, schema: &'s Value, value: &Value, level: usize) -> Option<u64> {
        let Value::Object(members) = schema else { return Some(1) };
        let key = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        if level > DEEPEST || self.known.len() as u64 >= self.most {
            return None;
        }
        // A reference that leads back to the same place is checked there only once.
        self.known.insert(key, 0);
        let mut here = 0_u64;
        for part in in_place(members) {
            here = self.add(here, part, value, level)?;
        }
        for key in REFERENCES {
            if let Some(Value::String(reference)) = members.get(key) {
                for target in self.walk.targets(reference) {
                    here = self.add(here, target, value, level)?;
                }
            }
        }
        // These check the schemas of the same place again to learn what they have evaluated.
        if members.contains_key("unevaluatedProperties") || members.contains_key("unevaluatedItems")
        {
            here = here.saturating_mul(3);
        }
        let mut all = here.saturating_add(1);
        for (part, value) in below(members, value) {
            all = self.add(all, part, value, level)?;
        }
        self.known.insert(key, all);
        Some(all)
    }

    fn add(&mut self, to: u64, schema: &'s Value, value: &Value, level: usize) -> Option<u64> {
        let sum = to.saturating_add(self.steps(schema, value, level + 1)?);
        (sum <= self.most).then_some(sum)
    }
}

/// The schemas that apply to parts of a value, each with its part.
fn below<'s, 'v>(members: &'s Map<String, Value>, value: &'v Value) -> Vec<(&'s Value, &'v Value)> {
    let mut pairs = Vec::new();
    match value {
        Value::Object(parts) => {
            if let Some(named) = members.get("properties").and_then(Value::as_object) {
                let both = named.iter().filter_map(|(name, part)| Some((part, parts.get(name)?)));
                pairs.extend(both);
            }
            let patterns = members.get("patternProperties").and_then(Value::as_object);
            let patterns = patterns.into_iter().flat_map(Map::values);
            let others = FOR_MEMBERS.iter().filter_map(|key| members.get(*key));
            for part in patterns.chain(others) {
                pairs.extend(parts.values().map(|value| (part, value)));
            }
        }
        Value::Array(items) => {
            let schemas = FOR_ITEMS.iter().filter_map(|key| members.get(*key));
            for part in schemas {
                match part {
                    Value::Array(parts) => pairs.extend(parts.iter().zip(items)),
                    part => pairs.extend(items.iter().map(|value| (part, value))),
                }
            }
        }
        _ => {}
    }
    pairs
}

/// Maximum depth of schemas and values together.
const DEEPEST: usize = 2_000;

/// Keywords whose schema applies to each member, or to each item.
const FOR_MEMBERS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
const FOR_ITEMS: [&str; 5] =
    ["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"];

struct Walk<'s> {
    root: &'s Value,
    /// Schemas by the names that references use, which may be relative to any id.
    names: HashMap<String, Vec<&'s Value>>,
    /// The root, and every schema with an id: a reference without a base may be to any of them.
    bases: Vec<&'s Value>,
    /// Known weights of reference targets; targets still being counted weigh nothing.
    weights: HashMap<*const Value, u64>,
    /// Targets that are being counted.
    open: HashSet<*const Value>,
    /// Whether a target leads back to itself.
    recursive: bool,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        let mut walk = Self {
            root,
            names: HashMap::new(),
            bases: vec![root],
            weights: HashMap::new(),
            open: HashSet::new(),
            recursive: false,
        };
        let (names, bases) = (&mut walk.names, &mut walk.bases);
        each_name(root, LEVELS, &mut |name, schema| match name {
            Name::Anchor(name) => names.entry(format!("#{name}")).or_default().push(schema),
            Name::Id(id) => {
                // A reference may be relative to another id.
                for name in [id.rsplit('/').next().unwrap_or(id), id] {
                    let name = name.trim_end_matches('#').to_owned();
                    names.entry(name).or_default().push(schema);
                }
                bases.push(schema);
            }
        });
        // The root refers to itself as `#`.
        walk.open.insert(std::ptr::from_ref(root));
        walk
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
        for key in REFERENCES {
            if let Some(Value::String(reference)) = members.get(key) {
                same = same.saturating_add(self.referred(reference, level));
            }
        }
        let below = parts(members).map(|part| self.weight(part, level + 1)).max();
        same.saturating_add(below.unwrap_or(0))
    }

    fn referred(&mut self, reference: &str, level: usize) -> u64 {
        let targets = self.targets(reference).into_iter();
        let weights = targets.map(|target| self.weight_of_target(target, level));
        weights.fold(0, u64::saturating_add).max(1)
    }

    fn weight_of_target(&mut self, target: &'s Value, level: usize) -> u64 {
        let key = std::ptr::from_ref(target);
        self.recursive |= self.open.contains(&key);
        if let Some(known) = self.weights.get(&key) {
            return *known;
        }
        self.weights.insert(key, 0);
        let outermost = self.open.insert(key);
        let weight = self.weight(target, level + 1);
        if outermost {
            self.open.remove(&key);
        }
        self.weights.insert(key, weight);
        weight
    }

    /// The schemas that a reference may be to. Several schemas may have one name, and a reference
    /// without a base is relative to the nearest id, so all of them count.
    fn targets(&self, reference: &str) -> Vec<&'s Value> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let last = base.rsplit('/').next().unwrap_or(base);
        let named = |name: &str| self.names.get(name).map(Vec::as_slice).unwrap_or_default();
        let bases: Vec<&'s Value> = match base {
            "" => self.bases.clone(),
            base => [named(base), named(last)].concat(),
        };
        let mut found: Vec<&'s Value> = match fragment {
            "" => bases,
            _ => {
                let pointer = decoded(fragment);
                let below = bases.iter().filter_map(|base| base.pointer(&pointer));
                below.chain(named(&format!("#{fragment}")).iter().copied()).collect()
            }
        };
        if found.is_empty() {
            // What cannot be found here may be anything in this schema.
            found.push(self.root);
        }
        found.sort_by_key(|schema| std::ptr::from_ref::<Value>(schema));
        found.dedup_by_key(|schema| std::ptr::from_ref::<Value>(schema));
        found
    }
}

fn in_place(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = members_of(members, &LISTS).filter_map(Value::as_array).flatten();
    let named = members_of(members, &NAMED).filter_map(Value::as_object);
    lists.chain(members_of(members, &SINGLE)).chain(named.flat_map(Map::values))
}

fn parts(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = members_of(members, &PARTS).filter_map(Value::as_array).flatten();
    let named = members_of(members, &NAMED_PARTS).filter_map(Value::as_object);
    members_of(members, &PARTS).chain(lists).chain(named.flat_map(Map::values))
}

/// The members with one of these names. Most schemas have few members, so these are walked.
fn members_of<'s>(
    members: &'s Map<String, Value>,
    names: &[&str],
) -> impl Iterator<Item = &'s Value> {
    members.iter().filter(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fans_out(source: &Value) -> bool {
        fan(source) == Fan::TooWide
    }

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
    fn a_recursive_schema_is_counted_with_its_value() {
        let again = json!({ "required": ["l"], "properties": { "l": { "$ref": "#/$defs/t" } } });
        let bomb = |reference: &str| {
            let mut schema = json!({ "$ref": reference, "$defs": { "t": {
                "$id": "http://x.example/t", "$anchor": "t", "anyOf": [again, again] } } });
            for branch in [0, 1] {
                schema["$defs"]["t"]["anyOf"][branch]["properties"]["l"]["$ref"] = reference.into();
            }
            schema
        };
        let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({ "l": inner }));
        for reference in ["#/$defs/t", "#/%24defs/t", "#t", "http://x.example/t", "t", "t#"] {
            let schema = bomb(reference);
            assert_eq!(fan(&schema), Fan::ByValue, "{reference}");
            assert!(steps(&schema, &nested(6), 100_000).is_some(), "{reference}");
            assert_eq!(steps(&schema, &nested(30), 100_000), None, "{reference}");
        }
        // `#` is the nearest schema with an id.
        let again = json!({ "required": ["l"], "properties": { "l": { "$ref": "#" } } });
        let inner = json!({ "$ref": "#/$defs/t", "$defs": {
            "t": { "$id": "http://x.example/t", "anyOf": [again, again] },
            "u": { "$id": "http://y.example/t" } } });
        assert_eq!(steps(&inner, &nested(30), 100_000), None);
        let list = json!({ "properties": { "next": { "$ref": "#" }, "v": { "type": "integer" } } });
        let long = (0..100).fold(json!({}), |next, v| json!({ "next": next, "v": v }));
        assert_eq!(fan(&list), Fan::ByValue);
        assert!(steps(&list, &long, 1_000).is_some());
        assert_eq!(fan(&json!({ "properties": { "a": { "type": "string" } } })), Fan::Narrow);
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
