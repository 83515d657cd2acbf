//! Generates tables of the configuration keys from the published schema.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Returns a table for each section, in the order of the schema.
pub(super) fn tables(schema: &str) -> Result<String> {
    let schema: Value = serde_json::from_str(schema).context("reading the schema")?;
    let mut text = String::new();
    let mut tables = Tables { root: &schema, titled: Vec::new() };
    tables.section("", &schema, &mut text);
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(text)
}

struct Tables<'s> {
    root: &'s Value,
    /// Tables that have a heading of their own, with that heading.
    titled: Vec<(&'s Value, String)>,
}

impl<'s> Tables<'s> {
    /// Writes the table of a section, then those of its subsections.
    fn section(&mut self, name: &str, node: &'s Value, text: &mut String) {
        let keys = node.get("properties").and_then(Value::as_object);
        let (mut rows, mut below) = (String::new(), Vec::new());
        for (key, outer) in keys.into_iter().flatten() {
            let inner = self.resolved(outer);
            let path = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            let entry = |member: &str| inner.get(member).map(|entry| self.resolved(entry));
            let mut described = description(outer).or_else(|| description(inner));
            if is_section(inner) {
                below.push((format!("`[{path}]`"), path, described, inner));
                continue;
            }
            let many = entry("items").map(|item| (item, format!("`[[{path}]]`")));
            let named =
                entry("additionalProperties").map(|item| (item, format!("`[{path}.NAME]`")));
            if let Some((item, title)) = many.or(named).filter(|(item, _)| is_section(item)) {
                let titled = self.titled.iter().find(|(known, _)| std::ptr::eq(*known, item));
                if let Some((_, title)) = titled {
                    *described.get_or_insert_default() +=
                        &format!(" For the keys of each entry, see {title}.");
                } else {
                    self.titled.push((item, title.clone()));
                    below.push((title, path, description(item), item));
                }
            }
            let default = match outer.get("default") {
                None | Some(Value::Null) => "not set".to_owned(),
                Some(Value::Object(map)) if map.is_empty() => "empty".to_owned(),
                Some(Value::Array(items)) if items.is_empty() => "empty".to_owned(),
                Some(Value::Array(items)) if items.len() > 4 => format!("{} entries", items.len()),
                Some(value) => format!("`{value}`"),
            };
            let needed = node.get("required").and_then(Value::as_array);
            let needed = needed.is_some_and(|needed| needed.iter().any(|name| name == key));
            let default = if needed { "must be set".to_owned() } else { default };
            let (kind, described) = (self.kind(inner), described.unwrap_or_default());
            let _ = writeln!(rows, "| `{key}` | {kind} | {default} | {} |", cell(&described));
        }
        if !rows.is_empty() {
            let _ =
                write!(text, "| key | value | default | meaning |\n|---|---|---|---|\n{rows}\n");
        }
        for (title, path, described, inner) in below {
            let _ = write!(text, "### {title}\n\n{}\n\n", described.unwrap_or_default());
            self.section(&path, inner, text);
        }
    }

    /// Resolves a node of the schema: follows references, and skips the `null` alternative.
    fn resolved(&self, node: &'s Value) -> &'s Value {
        let chosen = node.get("anyOf").and_then(Value::as_array).and_then(|choices| {
            choices.iter().find(|choice| choice.get("type").is_none_or(|name| name != "null"))
        });
        let referred = node
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| self.root.pointer(reference.trim_start_matches('#')));
        chosen.or(referred).map_or(node, |next| self.resolved(next))
    }

    fn kind(&self, node: &'s Value) -> String {
        let words = |node: &Value| node.get("const").map(|word| format!("`{word}`"));
        if let Some(choices) = node.get("oneOf").and_then(Value::as_array) {
            return choices.iter().filter_map(words).collect::<Vec<_>>().join(", ");
        }
        if let Some(choices) = node.get("enum").and_then(Value::as_array) {
            let words = choices.iter().map(|word| format!("`{word}`"));
            return words.collect::<Vec<_>>().join(", ");
        }
        let named = match node.get("type") {
            Some(Value::String(name)) => name.as_str(),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("")
            }
            _ => "",
        };
        let of = |member: &str| node.get(member).map(|inner| self.resolved(inner));
        match named {
            "string" => "text".to_owned(),
            "array" => match of("items").filter(|items| !is_section(items)) {
                Some(items) => format!("list of {}", self.kind(items)),
                None => "tables".to_owned(),
            },
            "object" => match of("additionalProperties") {
                Some(values) if is_section(values) => "table of tables".to_owned(),
                Some(values) if values.is_object() && !self.kind(values).is_empty() => {
                    format!("table of {}", self.kind(values))
                }
                _ => "table".to_owned(),
            },
            other => other.to_owned(),
        }
    }
}

fn is_section(node: &Value) -> bool {
    node.get("properties").is_some()
}

fn description(node: &Value) -> Option<String> {
    Some(node.get("description")?.as_str()?.replace('\n', " "))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_becomes_tables() {
        let schema = r##"{"properties": {"tools": {"$ref": "#/$defs/Tools", "description": "What tools\nmay do."}},
            "$defs": {"Tools": {"properties": {
                "most": {"type": ["integer", "null"], "description": "How many."},
                "mode": {"$ref": "#/$defs/Mode", "default": "on"},
                "rules": {"type": "array", "items": {"$ref": "#/$defs/Rule"}, "default": []}}},
            "Mode": {"oneOf": [{"const": "on"}, {"const": "off"}], "description": "a|b"},
            "Rule": {"description": "One rule.", "properties": {"tool": {"type": "string"}}, "required": ["tool"]}}}"##;
        let expected = "### `[tools]`\n\nWhat tools may do.\n\n\
            | key | value | default | meaning |\n|---|---|---|---|\n\
            | `most` | integer | not set | How many. |\n\
            | `mode` | `\"on\"`, `\"off\"` | `\"on\"` | a\\|b |\n\
            | `rules` | tables | empty |  |\n\n\
            ### `[[tools.rules]]`\n\nOne rule.\n\n\
            | key | value | default | meaning |\n|---|---|---|---|\n\
            | `tool` | text | must be set |  |\n";
        assert_eq!(tables(schema).unwrap(), expected);
    }
}
