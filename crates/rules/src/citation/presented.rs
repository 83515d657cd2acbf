//! Decides whether an object in the text presents a result or only a call.

use serde_json::Value;

use super::literal::folded;
use super::stated::Stated;
use crate::prose::sets;

/// Whether the object states something that a tool would have returned.
pub(super) fn presents_result(stated: &Stated) -> bool {
    if has_result_member(stated) {
        return true;
    }
    let defines = |key: &String| sets::DEFINES_A_TOOL.list.contains(&folded(key).as_str());
    let definition = stated.rest.keys().any(defines);
    !definition
        && stated.rest.iter().any(|(key, value)| {
            let key = folded(key);
            // Switches and limits are configuration.
            let measured = matches!(value, Value::Number(_) | Value::Object(_) | Value::Array(_));
            let limits = || {
                let mut words = sets::LIMITS_A_CALL.list.iter();
                words.any(|word| key.starts_with(word))
            };
            !sets::MEMBERS_OF_CALLS.list.contains(&key.as_str())
                && !is_blank(value)
                && (stated.headed || (measured && !limits()))
        })
}

/// Whether the object has a member that only results have.
pub(super) fn has_result_member(stated: &Stated) -> bool {
    stated.rest.iter().any(|(key, value)| {
        sets::MEMBERS_OF_RESULTS.list.contains(&folded(key).as_str()) && !is_blank(value)
    })
}

/// Whether a value is empty: null, an empty text, or a template.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => {
            let text = text.trim();
            // A template: `<result>`, `...`, `{{output}}`.
            text.is_empty()
                || matches!(text, "…" | "...")
                || (text.starts_with(['<', '{', '[']) && text.ends_with(['>', '}', ']']))
        }
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
