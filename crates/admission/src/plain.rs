//! Recognises the schemas that nearly all tools have: a few common keywords, used correctly. They
//! are known to compile, so they are compiled only when a call needs them.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Maximum depth at which schemas are looked at; deeper ones are not plain.
const DEEPEST: usize = 32;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Whether a schema uses only keywords that mean the same in draft 7 and in draft 2020-12, each of
/// them with a valid value. Such a schema always compiles.
pub(crate) fn is_plain(schema: &Value) -> bool {
    schema.is_object() && is_plain_below(schema, 0)
}

fn is_plain_below(schema: &Value, depth: usize) -> bool {
    let Value::Object(members) = schema else { return schema.is_boolean() };
    depth <= DEEPEST && members.iter().all(|(keyword, value)| is_valid(keyword, value, depth + 1))
}

/// Whether this is a common keyword with a valid value.
fn is_valid(keyword: &str, value: &Value, depth: usize) -> bool {
    match keyword {
        "type" => is_type(value),
        "properties" => {
            let all = |named: &Map<String, Value>| named.values().all(|s| is_plain_below(s, depth));
            value.as_object().is_some_and(all)
        }
        "items" | "additionalProperties" | "not" => is_plain_below(value, depth),
        "allOf" | "anyOf" | "oneOf" => is_list(value, |schema| is_plain_below(schema, depth)),
        "required" => {
            value.as_array().is_some_and(Vec::is_empty) || is_list_of_different(value, |_| true)
        }
        "enum" => is_list(value, |_| true),
        "const" | "default" => true,
        "examples" => value.is_array(),
        "title" | "description" | "$comment" => value.is_string(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.as_u64().is_some_and(|limit| u32::try_from(limit).is_ok())
        }
        "uniqueItems" => value.is_boolean(),
        _ => false,
    }
}

fn is_type(value: &Value) -> bool {
    match value {
        Value::String(name) => TYPES.contains(&name.as_str()),
        names => is_list_of_different(names, |name| TYPES.contains(&name)),
    }
}

/// Whether this is a list of valid texts, none of them twice, and at least one.
fn is_list_of_different(value: &Value, valid: impl Fn(&str) -> bool) -> bool {
    let mut seen = HashSet::new();
    let fits = |text: &Value| text.as_str().is_some_and(&valid);
    is_list(value, fits) && value.as_array().into_iter().flatten().all(|text| seen.insert(text))
}

/// Whether this is a list with at least one item, and all items are valid.
fn is_list(value: &Value, valid: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(valid))
}
