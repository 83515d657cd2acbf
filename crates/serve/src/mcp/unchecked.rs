//! Arguments that cannot be validated, because their schema cannot be used.

use std::collections::BTreeMap;

use counterfoil_admission::{AdmissionSettings, CatalogIssue};
use counterfoil_formats::read_tools;
use counterfoil_guard::HostTools;
use serde_json::Value;

/// Issues because of which an argument is not validated, the clearest first.
const UNCHECKED: [&str; 3] = ["INVALID_SCHEMA", "UNCHECKED_KEYWORD", "UNRESOLVABLE_REF"];

/// Why arguments of tools are not validated, by tool: one reason each.
pub(super) fn unchecked(issues: &[CatalogIssue]) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for code in UNCHECKED {
        for issue in issues.iter().filter(|issue| issue.code.0 == code) {
            found.entry(issue.tool.as_str()).or_insert(issue.message.as_str());
        }
    }
    found
}

/// The message about a tool whose arguments are not all validated.
pub(super) fn unchecked_in(server: &str, tool: &str, why: &str) -> String {
    format!("some arguments of `{tool}` (server `{server}`) cannot be validated: {why}")
}

/// Why not all arguments of a tool, as a server lists it, can be validated; `None` if they can.
#[must_use]
pub fn unchecked_arguments(tool: &Value) -> Option<String> {
    let tools = match read_tools(&Value::Array(vec![tool.clone()])) {
        Ok(tools) => tools,
        Err(error) => return Some(error.to_string()),
    };
    let tools = HostTools::new(tools, &AdmissionSettings::default());
    unchecked(tools.issues()).values().next().map(|why| (*why).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_are_not_validated_are_named() {
        let of = |schema: Value| {
            let properties = json!({ "type": "object", "properties": { "a": schema } });
            unchecked_arguments(&json!({ "name": "t", "inputSchema": properties }))
        };
        assert_eq!(of(json!({ "type": "string", "pattern": "^a+$" })), None);
        for odd in [
            json!({ "type": "string", "pattern": "(?<=a)b" }),
            json!({ "$ref": "#/$defs/Missing" }),
            json!({ "type": "strng" }),
        ] {
            let why = of(odd.clone());
            assert!(
                why.as_deref()
                    .is_some_and(|why| why.contains("properties") || why.contains("$defs")),
                "{odd}: {why:?}"
            );
        }
    }
}
