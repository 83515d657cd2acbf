use counterfoil_model::{Code, Tool};
use serde::Serialize;
use serde_json::Value;

use crate::dialect::{DATA, NAMED, decoded};
use crate::issue::{IssueSeverity, below};
use crate::schema::SchemaError;

/// A problem with the definition of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogIssue {
    /// `INVALID_SCHEMA`, `UNCHECKED_KEYWORD`, `UNRESOLVABLE_REF`, `ARRAY_WITHOUT_ITEMS`,
    /// `UNDECLARED_REQUIRED`, `EMPTY_DESCRIPTION`.
    pub code: Code,
    /// The severity. A tool with a blocking issue cannot be checked.
    pub severity: IssueSeverity,
    /// The tool's name.
    pub tool: String,
    /// JSON Pointer into the schema of the arguments; empty if the issue is about the whole tool.
    pub place: String,
    /// What is wrong: lower case, no full stop.
    pub message: String,
}

impl CatalogIssue {
    pub(crate) fn invalid_schema(tool: &str, error: SchemaError) -> Self {
        Self {
            code: Code("INVALID_SCHEMA"),
            severity: IssueSeverity::Block,
            tool: tool.to_owned(),
            message: error.to_string(),
            place: error.place,
        }
    }

    /// The issue for parts of a schema that cannot be used; at most one per tool.
    pub(crate) fn unchecked(tool: &str, left: &[SchemaError]) -> Option<Self> {
        let first = left.first()?;
        let more = match left.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        Some(Self {
            code: Code("UNCHECKED_KEYWORD"),
            severity: IssueSeverity::Warn,
            tool: tool.to_owned(),
            message: format!(
                "the schema's `{}` cannot be checked: {}{more}; the rest is checked",
                first.place, first.reason
            ),
            place: first.place.clone(),
        })
    }
}

/// Questionable points of a tool's definition, even if its schema compiles.
#[must_use]
pub fn lint(tool: &Tool) -> Vec<CatalogIssue> {
    let mut found = Vec::new();
    let mut add = |code, place: &str, message: String| {
        found.push(CatalogIssue {
            code: Code(code),
            severity: IssueSeverity::Warn,
            tool: tool.name.clone(),
            place: place.to_owned(),
            message,
        });
    };
    let Some(schema) = &tool.parameters else { return found };
    if tool.description.trim().is_empty() {
        add("EMPTY_DESCRIPTION", "", format!("the tool `{}` has no description", tool.name));
    }
    visit(schema, schema, "", &mut add);
    found
}

fn visit(
    root: &Value,
    schema: &Value,
    place: &str,
    add: &mut impl FnMut(&'static str, &str, String),
) {
    let Value::Object(members) = schema else { return };
    let is_array = match members.get("type") {
        Some(Value::String(name)) => name == "array",
        Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
        _ => false,
    };
    if is_array && !["items", "prefixItems", "$ref"].iter().any(|k| members.contains_key(*k)) {
        add("ARRAY_WITHOUT_ITEMS", place, "the array does not declare its items".to_owned());
    }
    if let (Some(Value::Array(required)), Some(Value::Object(properties))) =
        (members.get("required"), members.get("properties"))
    {
        for name in required.iter().filter_map(Value::as_str) {
            if !properties.contains_key(name) {
                let message = format!("`{name}` is required but not declared");
                add("UNDECLARED_REQUIRED", place, message);
            }
        }
    }
    if let Some(reference) = members.get("$ref").and_then(Value::as_str)
        && let Some(pointer) = reference.strip_prefix('#')
        && (pointer.is_empty() || pointer.starts_with('/'))
        && root.pointer(&decoded(pointer)).is_none()
    {
        let message = format!("the reference `{reference}` cannot be resolved");
        add("UNRESOLVABLE_REF", place, message);
    }
    for (keyword, inner) in members {
        let place = below(place, keyword);
        match inner {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                for (name, one) in named {
                    visit(root, one, &below(&place, name), add);
                }
            }
            Value::Object(_) if !DATA.contains(&keyword.as_str()) => {
                visit(root, inner, &place, add)
            }
            Value::Array(several) if !DATA.contains(&keyword.as_str()) => {
                for (at, one) in several.iter().enumerate() {
                    visit(root, one, &below(&place, &at.to_string()), add);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_the_place() {
        let tool = Tool {
            parameters: Some(json!({
                "type": "object",
                "properties": {
                    "tags": {"type": "array"},
                    "owner": {"$ref": "#/$defs/Person"},
                    "box": {"type": "object", "properties": {"a": {}}, "required": ["a", "b"]},
                    "ok": {"type": "array", "items": {"type": "string"}},
                    "type": {"enum": [{"type": "array"}]}
                },
                "required": ["tags"]
            })),
            ..Tool::named("keep")
        };
        let found: Vec<(&str, String)> =
            lint(&tool).into_iter().map(|issue| (issue.code.0, issue.place)).collect();
        let expected = [
            ("EMPTY_DESCRIPTION", ""),
            ("ARRAY_WITHOUT_ITEMS", "/properties/tags"),
            ("UNRESOLVABLE_REF", "/properties/owner"),
            ("UNDECLARED_REQUIRED", "/properties/box"),
        ];
        assert_eq!(found, expected.map(|(code, place)| (code, place.to_owned())));
        assert!(lint(&Tool::named("bare")).is_empty());
    }
}
