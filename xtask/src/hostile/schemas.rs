//! Tool schemas that take exponential time.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::bench::Bench;
use super::{Attempt, Held};

const LIMIT: Duration = Duration::from_secs(4);

pub(super) fn attempt(bench: &Bench) -> Result<Vec<Attempt>> {
    let mut attempts = Vec::new();
    for (keyword, levels) in [
        ("allOf", 16),
        ("allOf", 22),
        ("allOf", 28),
        ("anyOf", 22),
        ("oneOf", 22),
        ("properties", 22),
    ] {
        let tools = json!([{ "type": "function", "function": {
            "name": "bomb", "parameters": fan(keyword, levels),
        } }]);
        let tools = bench.write("tools.json", tools.to_string())?.display().to_string();
        let call = json!({ "name": "bomb", "arguments": { "a": { "a": 1 } } });
        let calls = bench.write("calls.jsonl", format!("{call}\n"))?.display().to_string();
        let ran = bench.run(&["--no-config", "validate", "--tools", &tools, &calls], "")?;
        let held = ran.took < LIMIT && ran.code.is_some_and(|code| code < 100);
        let seen = || format!("{:.1} s, exit code {:?}", ran.took.as_secs_f64(), ran.code);
        attempts
            .push(Attempt::new(format!("{levels} levels of `{keyword}`"), Held::when(held, seen)));
    }
    Ok(attempts)
}

/// A schema in which each definition refers to the next one twice.
fn fan(keyword: &str, levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let schema = match keyword {
            "properties" => json!({ "type": "object", "properties": { "a": next, "b": next } }),
            keyword => json!({ keyword: [next, next] }),
        };
        definitions.insert(format!("d{level}"), schema);
    }
    definitions.insert(format!("d{levels}"), json!({ "type": "object" }));
    json!({ "type": "object", "$defs": definitions, "allOf": [{ "$ref": "#/$defs/d0" }] })
}
