//! Translates schemas in other dialects to JSON Schema. Keywords without a clear meaning are
//! removed, so that the rest is still checked.

use serde_json::{Map, Value, json};

use crate::issue::unescaped;

/// Keywords whose members are schemas under arbitrary names.
pub(crate) const NAMED: [&str; 5] =
    ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
/// Keywords whose value is data, not a schema.
pub(crate) const DATA: [&str; 5] = ["const", "enum", "default", "example", "examples"];
/// Keywords that hold a reference.
pub(crate) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords whose value is a schema.
const SINGLE: [&str; 11] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Maximum depth at which schemas are looked at.
const DEEPEST: usize = 64;

/// Whether a member at any depth passes a test of its name and value.
pub(crate) fn has_member(schema: &Value, test: &dyn Fn(&str, &Value) -> bool) -> bool {
    match schema {
        Value::Object(members) => {
            members.iter().any(|(name, value)| test(name, value) || has_member(value, test))
        }
        Value::Array(items) => items.iter().any(|item| has_member(item, test)),
        _ => false,
    }
}

/// A name that references may use for a schema.
pub(crate) enum Name<'s> {
    /// Its `$anchor`.
    Anchor(&'s str),
    /// Its `$id`.
    Id(&'s str),
}

/// Calls `found` with each name in a document, and with the schema that it names, down to a depth.
pub(crate) fn each_name<'s>(
    document: &'s Value,
    deepest: usize,
    found: &mut impl FnMut(Name<'s>, &'s Value),
) {
    if let Value::Object(members) = document {
        let text = |key: &&str| members.get(*key).and_then(Value::as_str);
        let anchors = ["$anchor", "$dynamicAnchor"].iter().filter_map(text).map(Name::Anchor);
        let ids = ["$id", "id"].iter().filter_map(text).map(Name::Id);
        anchors.chain(ids).for_each(|name| found(name, document));
    }
    let Some(deeper) = deepest.checked_sub(1) else { return };
    match document {
        Value::Object(members) => members.values().for_each(|one| each_name(one, deeper, found)),
        Value::Array(items) => items.iter().for_each(|one| each_name(one, deeper, found)),
        _ => {}
    }
}

/// Whether `nullable` occurs, the only foreign keyword that compiles but has no effect.
pub(crate) fn says_nullable(schema: &Value) -> bool {
    has_member(schema, &|name, value| name == "nullable" && *value == true)
}

/// The schema with `nullable` expressed in JSON Schema.
pub(crate) fn with_nulls(source: &Value) -> Value {
    let mut schema = source.clone();
    each(&mut schema, 0, &mut |schema| {
        if schema.remove("nullable") != Some(Value::Bool(true)) {
            return;
        }
        match schema.get_mut("type") {
            Some(Value::Array(names)) if !names.contains(&json!("null")) => {
                names.push("null".into())
            }
            Some(name @ Value::String(_)) => *name = json!([name.clone(), "null"]),
            _ => {}
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    });
    schema
}

/// The schema with every unambiguous foreign construct translated.
pub(crate) fn translated(source: &Value) -> Value {
    let mut schema = with_nulls(source);
    rename_definitions(&mut schema);
    each(&mut schema, 0, &mut |schema| {
        types(schema);
        bounds(schema);
        tuples(schema);
        required(schema);
        pattern(schema);
    });
    schema
}

/// Removes the keyword at this place (or the keyword that contains it), along with anything that
/// would then reject values because it is missing. Returns the place of the removed keyword.
pub(crate) fn without(schema: &mut Value, place: &str) -> Option<String> {
    let mut place = turned_round(place).to_owned();
    closed_above(schema, &place);
    loop {
        let (parent, last) = place.rsplit_once('/')?;
        let last = unescaped(last);
        match schema.pointer_mut(parent) {
            // For an element of a list such as `required` or `type`, the whole list is removed.
            Some(Value::Array(_)) | None => place = parent.to_owned(),
            Some(Value::Object(members)) => {
                members.remove(&last)?;
                return Some(place);
            }
            Some(_) => return None,
        }
    }
}

/// The outermost `not`, `if` or `oneOf` above a place, or the place itself if there is none. Within
/// these keywords, removing a check can turn an accepted value into a rejected one.
fn turned_round(place: &str) -> &str {
    const TURNS: [&str; 3] = ["not", "if", "oneOf"];
    let (mut at, mut named) = (0, false);
    for step in place.split('/').skip(1) {
        at += 1 + step.len();
        if !named && TURNS.contains(&step) {
            return place.get(..at).unwrap_or(place);
        }
        named = !named && NAMED.contains(&step);
    }
    place
}

/// Above a removed place, removes keywords that reject members or items no schema describes.
fn closed_above(schema: &mut Value, place: &str) {
    let ends: Vec<usize> = place.match_indices('/').map(|(at, _)| at).collect();
    for above in ends.into_iter().filter_map(|end| place.get(..end)) {
        if let Some(Value::Object(members)) = schema.pointer_mut(above) {
            for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
                if members.get(keyword) == Some(&Value::Bool(false)) {
                    members.remove(keyword);
                }
            }
        }
    }
}

/// Decodes a JSON Pointer from a URI fragment.
pub(crate) fn decoded(pointer: &str) -> String {
    percent_encoding::percent_decode_str(pointer).decode_utf8_lossy().into_owned()
}

/// Calls `change` with every subschema.
fn each(schema: &mut Value, depth: usize, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    if depth > DEEPEST {
        return;
    }
    change(members);
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        match value {
            Value::Object(named) if NAMED.contains(&keyword) => {
                named.values_mut().for_each(|one| each(one, depth + 1, change));
            }
            Value::Object(_) if SINGLE.contains(&keyword) => each(value, depth + 1, change),
            Value::Array(list) if LISTS.contains(&keyword) || keyword == "items" => {
                list.iter_mut().for_each(|one| each(one, depth + 1, change));
            }
            _ => {}
        }
    }
}

/// Normalises type names such as `STRING`, `dict` and `float`, and a type in place of a schema.
fn types(schema: &mut Map<String, Value>) {
    match schema.get_mut("type") {
        Some(Value::String(name)) => match type_of(name) {
            Some("any") => drop(schema.remove("type")),
            Some(known) => known.clone_into(name),
            None => {}
        },
        Some(Value::Array(names)) => {
            for name in names.iter_mut() {
                if let Some(known) = name.as_str().and_then(type_of) {
                    *name = known.into();
                }
            }
        }
        _ => {}
    }
    for keyword in NAMED {
        let Some(Value::Object(named)) = schema.get_mut(keyword) else { continue };
        for one in named.values_mut() {
            if let Some(known) = one.as_str().map(|name| type_of(name).unwrap_or("any")) {
                *one = if known == "any" { json!({}) } else { json!({ "type": known }) };
            }
        }
    }
}

fn type_of(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" => "string",
        "integer" | "int" | "long" => "integer",
        "number" | "float" | "double" | "decimal" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" => "array",
        "object" | "dict" | "hashmap" | "map" => "object",
        "null" | "none" => "null",
        "any" => "any",
        _ => return None,
    })
}

/// In draft 4, exclusive bounds are given by `true` next to the bound.
fn bounds(schema: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) else { continue };
        if *is_exclusive && let Some(limit) = schema.remove(bound) {
            schema.insert(exclusive.to_owned(), limit);
        } else {
            schema.remove(exclusive);
        }
    }
}

/// Up to draft 2019-09, `prefixItems` was a list in `items`.
fn tuples(schema: &mut Map<String, Value>) {
    if !schema.get("items").is_some_and(Value::is_array) {
        return;
    }
    if let Some(items) = schema.remove("items") {
        schema.insert("prefixItems".to_owned(), items);
    }
    if let Some(rest) = schema.remove("additionalItems") {
        schema.insert("items".to_owned(), rest);
    }
}

/// In draft 3, `required` is a boolean on the member itself.
fn required(schema: &mut Map<String, Value>) {
    let mut names = Vec::new();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            let Value::Object(property) = property else { continue };
            if let Some(Value::Bool(is_required)) = property.get("required") {
                if *is_required {
                    names.push(Value::from(name.as_str()));
                }
                property.remove("required");
            }
        }
    }
    if schema.get("required").is_some_and(Value::is_boolean) {
        schema.remove("required");
    }
    if names.is_empty() {
        return;
    }
    let listed = schema.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(listed) = listed {
        names.retain(|name| !listed.contains(name));
        listed.extend(names);
    }
}

/// Escapes braces that do not begin a quantifier; JavaScript patterns allow them.
fn pattern(schema: &mut Map<String, Value>) {
    let Some(Value::String(pattern)) = schema.get_mut("pattern") else { return };
    if regex::Regex::new(pattern).is_ok() {
        return;
    }
    let mut plain = String::with_capacity(pattern.len() + 4);
    let mut rest = pattern.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let count = after.split_once('}').map(|(count, _)| count);
        let counts = count.is_some_and(|count| {
            !count.is_empty() && count.chars().all(|c| c.is_ascii_digit() || c == ',')
        });
        // Classes such as `\p{L}` and quantifiers keep their braces.
        let escaped = before.ends_with('\\') || before.ends_with("\\p") || before.ends_with("\\P");
        plain.push_str(if counts || escaped { "{" } else { "\\{" });
        rest = after;
    }
    plain.push_str(rest);
    if regex::Regex::new(&plain).is_ok() {
        *pattern = plain;
    }
}

/// Renames definitions that a reference cannot spell, such as `Page[int]`, and the references to
/// them.
fn rename_definitions(schema: &mut Value) {
    let spells = |name: &str| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    let mut renamed: Vec<(String, String)> = Vec::new();
    for keyword in ["$defs", "definitions"] {
        let Some(Value::Object(named)) = schema.get_mut(keyword) else { continue };
        let odd: Vec<String> = named.keys().filter(|name| !spells(name)).cloned().collect();
        for name in odd {
            let mut new: String =
                name.chars().map(|c| if spells(&c.to_string()) { c } else { '_' }).collect();
            while named.contains_key(&new) {
                new.push('_');
            }
            if let Some(value) = named.remove(&name) {
                named.insert(new.clone(), value);
            }
            renamed.push((format!("#/{keyword}/{name}"), format!("#/{keyword}/{new}")));
        }
    }
    if !renamed.is_empty() {
        references(schema, 0, &renamed);
    }
}

fn references(value: &mut Value, depth: usize, renamed: &[(String, String)]) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        let named = |(old, _): &&(String, String)| {
                            let decoded = decoded(reference);
                            old == reference || *old == decoded || *old == unescaped(&decoded)
                        };
                        if let Some((_, new)) = renamed.iter().find(named) {
                            reference.clone_from(new);
                        }
                    }
                    _ => references(value, depth + 1, renamed),
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| references(item, depth + 1, renamed));
        }
        _ => {}
    }
}
