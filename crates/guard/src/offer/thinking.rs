//! Adds room to think to schemas that are hard to fill in (think-augmented function calling).

use counterfoil_model::{HIDDEN, is_hidden};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// `[tools.tafc]`: whether tools with complex schemas get an extra argument for the model to think
/// in. The argument is removed before the call is admitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TafcOptions {
    /// Whether this is enabled.
    pub enabled: bool,
    /// How complex a schema has to be for the extra argument, from 0 to 1. An invalid number counts
    /// as 0.6.
    #[serde(deserialize_with = "in_force")]
    pub complexity_threshold: f64,
}

/// The default complexity threshold.
const THRESHOLD: f64 = 0.6;

/// The threshold that a number stands for.
fn valid(threshold: f64) -> f64 {
    if threshold.is_finite() { threshold.clamp(0.0, 1.0) } else { THRESHOLD }
}

/// Reads the threshold as it is in force, so that it is also shown so.
fn in_force<'de, D: Deserializer<'de>>(written: D) -> Result<f64, D::Error> {
    f64::deserialize(written).map(valid)
}

impl Default for TafcOptions {
    fn default() -> Self {
        Self { enabled: false, complexity_threshold: THRESHOLD }
    }
}

impl TafcOptions {
    /// Replaces an invalid threshold, so that it is a number from 0 to 1.
    #[must_use]
    pub fn resolve(self) -> Self {
        Self { complexity_threshold: valid(self.complexity_threshold), ..self }
    }

    /// Returns the schema with room to think, if it is complex enough.
    pub(super) fn augmented(&self, schema: &Value) -> Option<Value> {
        let wanted = self.enabled && schema_complexity(schema) >= self.complexity_threshold;
        let schema = schema.as_object().filter(|_| wanted)?;
        let own = schema.get("properties")?.as_object()?;
        if own.keys().any(|name| is_hidden(name)) {
            return None;
        }
        // It comes first, so that the model writes it first.
        let mut properties = Map::new();
        properties.insert(HIDDEN.to_owned(), json!({ "type": "string", "description": ROOM }));
        properties.extend(own.clone());
        let mut augmented = schema.clone();
        // If all properties are required, this one must be required, too.
        if let Some(required) = augmented.get_mut("required").and_then(Value::as_array_mut)
            && required.len() == own.len()
        {
            required.insert(0, HIDDEN.into());
        }
        augmented.insert("properties".to_owned(), Value::Object(properties));
        Some(Value::Object(augmented))
    }
}

/// The description of the room to think, for the model.
const ROOM: &str = "Think here first, step by step: what is each parameter for, which value does it \
                    take, and where does that value come from? Nobody else reads this.";

/// How hard a tool's arguments are to fill in, from 0 (nothing to fill in) to 1. It depends on how
/// deeply they are nested, how many there are, and how many alternatives and lists of values they
/// have.
#[must_use]
pub fn schema_complexity(schema: &Value) -> f64 {
    let mut found = Found::default();
    found.look(schema, 0);
    let part = |count: u32, enough: u32| f64::from(count.min(enough)) / f64::from(enough);
    let Found { depth, properties, alternatives, enums } = found;
    0.3 * part(depth.saturating_sub(1), 3)
        + 0.3 * part(properties, 12)
        + 0.25 * part(alternatives, 3)
        + 0.15 * part(enums, 3)
}

/// What makes a schema complex.
#[derive(Debug, Default)]
struct Found {
    /// The number of nested object levels.
    depth: u32,
    properties: u32,
    alternatives: u32,
    enums: u32,
}

/// The maximum depth that is inspected.
const DEEPEST: u32 = 16;

impl Found {
    fn look(&mut self, schema: &Value, depth: u32) {
        let Some(members) = schema.as_object().filter(|_| depth < DEEPEST) else { return };
        let below = |found: &mut Self, schema: &Value| found.look(schema, depth + 1);
        if members.contains_key("enum") {
            self.enums += 1;
        }
        for word in ["oneOf", "anyOf", "allOf"] {
            if let Some(all) = members.get(word).and_then(Value::as_array) {
                self.alternatives += 1;
                all.iter().for_each(|schema| self.look(schema, depth));
            }
        }
        if ["not", "if", "$ref"].iter().any(|word| members.contains_key(*word)) {
            self.alternatives += 1;
        }
        if let Some(properties) = members.get("properties").and_then(Value::as_object) {
            self.depth = self.depth.max(depth + 1);
            for schema in properties.values() {
                self.properties += 1;
                below(self, schema);
            }
        }
        for word in ["items", "additionalProperties"] {
            if let Some(schema) = members.get(word) {
                self.look(schema, depth);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat() -> Value {
        json!({ "type": "object", "properties": { "path": { "type": "string" } } })
    }

    fn hard() -> Value {
        let place = json!({ "type": "object", "properties": {
            "kind": { "enum": ["room", "street"] }, "name": { "type": "string" },
            "at": { "type": "object", "properties": { "x": {}, "y": {} } },
        } });
        json!({ "type": "object", "required": ["from"], "properties": {
            "from": place, "to": { "anyOf": [place, { "type": "null" }] },
            "how": { "enum": ["car", "foot"] }, "when": { "oneOf": [{}, {}] },
            "who": { "type": "array", "items": { "type": "object", "properties": { "name": {} } } },
        } })
    }

    #[test]
    fn complexity_is_from_nothing_to_one() {
        let mut deep = json!({});
        for _ in 0..100 {
            deep =
                json!({ "properties": { "a": deep, "b": { "enum": [1] }, "c": { "anyOf": [] } } });
        }
        for (schema, least, most) in [
            (json!({}), 0.0, 0.0),
            (json!(true), 0.0, 0.0),
            (flat(), 0.01, 0.1),
            (hard(), 0.7, 1.0),
            (deep, 1.0, 1.0),
        ] {
            let found = schema_complexity(&schema);
            assert!((least..=most).contains(&found), "{found}: {schema}");
        }
    }

    #[test]
    fn the_threshold_is_a_number_from_0_to_1() {
        for (given, expected) in [
            (0.3, 0.3),
            (-1.0, 0.0),
            (7.0, 1.0),
            (f64::NAN, 0.6),
            (f64::INFINITY, 0.6),
            (f64::NEG_INFINITY, 0.6),
        ] {
            let options = TafcOptions { enabled: true, complexity_threshold: given }.resolve();
            assert!((options.complexity_threshold - expected).abs() < f64::EPSILON, "{given}");
        }
    }

    #[test]
    fn only_a_hard_schema_gets_room_to_think() {
        let on = TafcOptions { enabled: true, ..TafcOptions::default() };
        assert_eq!(on.augmented(&flat()), None);
        assert_eq!(TafcOptions::default().augmented(&hard()), None, "it is off");
        let augmented = on.augmented(&hard()).unwrap();
        let names: Vec<&String> = augmented["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["_tafc_think", "from", "to", "how", "when", "who"]);
        assert_eq!(augmented["required"], json!(["from"]));
        assert_eq!(on.augmented(&augmented), None, "it has it already");
        let mut strict = hard();
        strict["required"] = json!(["from", "to", "how", "when", "who"]);
        assert_eq!(on.augmented(&strict).unwrap()["required"][0], "_tafc_think");
    }
}
