//! Tool schemas that take exponential time.

use serde_json::{Map, Value, json};

use crate::stage::Stage;

#[test]
fn schemas_do_not_take_too_long() {
    let mut stage = Stage::new();
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
        let tools = stage.write("tools.json", tools.to_string());
        let call = json!({ "name": "bomb", "arguments": { "a": { "a": 1 } } });
        let calls = stage.write("calls.jsonl", format!("{call}\n"));
        let ran = stage.run(&["--no-config", "validate", "--tools", &tools, &calls], "");
        // It is judged, or refused because of this tool.
        let held = ran.is_quick(2) || ran.is_quick(3) && ran.err.contains("bomb");
        stage.tried(format!("{levels} levels of `{keyword}`"), held, || ran.time());
    }
    stage.end();
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
