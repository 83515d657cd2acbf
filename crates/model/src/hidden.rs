use std::borrow::Cow;

use serde_json::Value;

use crate::call::{Arguments, ToolCall};
use crate::exact::ExactValue;
use crate::json::JsonError;

/// The prefix of argument names that hold the model's thinking, in any case of letters. Only the
/// model may see it, so it is removed before anything is recorded.
pub const HIDDEN: &str = "_tafc_think";

/// Whether a member of this name is the model's thinking.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    let start = name.as_bytes().get(..HIDDEN.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(HIDDEN.as_bytes()))
}

/// Whether a text that cannot be parsed may contain the model's thinking.
#[must_use]
pub fn names_hidden(text: &str) -> bool {
    // Every call of a log is searched, and few have many underscores.
    text.match_indices('_').any(|(at, _)| text.get(at..).is_some_and(is_hidden))
}

/// The call without hidden thinking. The bytes are unchanged if there is none.
#[must_use]
pub fn without_hidden(call: ToolCall) -> ToolCall {
    take_hidden_out(call).0
}

/// Removes hidden thinking from the call. Also returns whether there was nothing else, so that the
/// model only thought and called nothing.
#[must_use]
pub fn take_hidden_out(call: ToolCall) -> (ToolCall, bool) {
    let Cow::Owned(arguments) = without_hidden_arguments(&call.arguments) else {
        return (call, false);
    };
    let nothing_else = arguments.as_str() == "{}";
    (ToolCall { arguments, ..call }, nothing_else)
}

/// The arguments without hidden thinking; borrowed if there is none.
///
/// Of arguments that cannot be parsed but may contain thinking, only their fault is left, so that
/// the code that refuses them can name it: cut-off arguments stay cut off.
#[must_use]
pub fn without_hidden_arguments(arguments: &Arguments) -> Cow<'_, Arguments> {
    let text = arguments.as_str();
    let named = names_hidden(text);
    // Letters and `_` may be escaped, as in `\u005f`.
    if !named && !text.contains("\\u00") {
        return Cow::Borrowed(arguments);
    }
    let left = match arguments.exact() {
        Ok(mut value) if value.is_object() => {
            if value.remove_members(&|_, name| is_hidden(name)) == 0 {
                return Cow::Borrowed(arguments);
            }
            return Cow::Owned(Arguments::from(&value));
        }
        _ if !named => return Cow::Borrowed(arguments),
        Ok(value) if value.is_array() => "[]",
        Ok(_) => "\"<removed>\"",
        Err(JsonError::Truncated(_)) => "{",
        Err(_) => "<removed>",
    };
    Cow::Owned(Arguments::raw(left))
}

/// Parsed arguments without hidden thinking; borrowed if there is none. Arguments that could not be
/// parsed are a string.
#[must_use]
pub fn without_hidden_members(arguments: &ExactValue) -> Cow<'_, ExactValue> {
    if arguments.as_str().is_some_and(names_hidden) {
        return Cow::Owned(Value::from("<removed>").into());
    }
    let mut left = Cow::Borrowed(arguments);
    if has_hidden(arguments) {
        left.to_mut().remove_members(&|_, name| is_hidden(name));
    }
    left
}

fn has_hidden(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_hidden(name) || has_hidden(value))
        }
        Value::Array(items) => items.iter().any(has_hidden),
        _ => false,
    }
}

/// The schema of a tool's arguments without the parameters for hidden thinking; borrowed if it has
/// none.
#[must_use]
pub fn without_hidden_parameters(schema: &Value) -> Cow<'_, Value> {
    let hides = |name: &Value| name.as_str().is_some_and(is_hidden);
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    if !properties.is_some_and(|named| named.keys().any(|name| is_hidden(name)))
        && !required.is_some_and(|names| names.iter().any(hides))
    {
        return Cow::Borrowed(schema);
    }
    let mut schema = schema.clone();
    if let Some(Value::Object(named)) = schema.get_mut("properties") {
        named.retain(|name, _| !is_hidden(name));
    }
    if let Some(Value::Array(names)) = schema.get_mut("required") {
        names.retain(|name| !hides(name));
    }
    Cow::Owned(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn thinking_is_gone_and_the_rest_is_as_written() {
        for (raw, kept) in [
            ("{\"a\": 1.0}", "{\"a\": 1.0}"),
            ("{\"_tafc_think\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            ("{\"_tafc_think_2\": {\"x\": 1}}", "{}"),
            (
                "{\"_tafc_think\": 0.1000000000000000000001, \"id\": 123456789012345678901}",
                "{\"id\":123456789012345678901}",
            ),
            ("{\"\\u005ftafc_think\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            ("{\"a\": \"about _tafc_think\"}", "{\"a\": \"about _tafc_think\"}"),
            ("{\"_tafc_think\": \"secret\"", "{"),
            ("{\"_tafc_think\": \"secret\", \"a\": }", "<removed>"),
            ("\"{\\\"_tafc_think\\\": \\\"secret\\\"}\"", "\"<removed>\""),
            ("{\"_TAFC_THINK\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            (
                "{\"_Tafc_Think_2\": \"secret\", \"a\": {\"_TAFC_think\": 1, \"b\": 2}}",
                "{\"a\":{\"b\":2}}",
            ),
            ("[{\"_TAFC_THINK\": \"secret\"}]", "[]"),
            ("{\"tafc_think\": \"é\", \"é\": 1}", "{\"tafc_think\": \"é\", \"é\": 1}"),
            ("not json", "not json"),
        ] {
            let call = ToolCall {
                id: String::new(),
                tool: "t".to_owned(),
                arguments: Arguments::raw(raw),
                line: 0,
            };
            assert_eq!(without_hidden(call).arguments.as_str(), kept, "{raw}");
        }
    }

    #[test]
    fn parsed_arguments_lose_thinking_and_no_digit() {
        for (raw, kept) in [
            (r#"{"a":0.1000000000000000000001}"#, None),
            (r#""about _TAFC_""#, None),
            (
                r#"{"_tafc_think":"secret","a":0.1000000000000000000001}"#,
                Some(r#"{"a":0.1000000000000000000001}"#),
            ),
            (r#"{"a":[{"_TAFC_THINK_2":"secret","b":1}]}"#, Some(r#"{"a":[{"b":1}]}"#)),
            (r#"[{"_tafc_think":"secret"}]"#, Some("[{}]")),
            (r#""{\"_tafc_think\": \"secret\"""#, Some("\"<removed>\"")),
        ] {
            let written = Arguments::raw(raw).exact().unwrap();
            let left = without_hidden_members(&written);
            assert_eq!(left.to_string(), kept.unwrap_or(raw), "{raw}");
            assert_eq!(matches!(left, Cow::Owned(_)), kept.is_some(), "{raw}");
        }
    }

    #[test]
    fn a_schema_loses_its_room_to_think() {
        let with = json!({
            "properties": { "_tafc_think": { "type": "string" }, "a": {} },
            "required": ["_tafc_think", "a"]
        });
        let without = json!({ "properties": { "a": {} }, "required": ["a"] });
        assert_eq!(*without_hidden_parameters(&with), without);
        assert!(matches!(without_hidden_parameters(&without), Cow::Borrowed(_)));
    }
}
