//! Whether everything that a reader may take for words or calls of the agent was judged. What passes
//! as it came holds more than what we read in it: a server may say it in a member, in an item or at a
//! place where nobody judges, and a client may show it all the same.

use counterfoil_model::ToolCall;
use serde_json::{Map, Value};

/// So many words in a row say something.
const WORDS: usize = 3;

/// Members that hold what is not the agent's: its own request again, names, sources, thoughts, and
/// the arguments of calls, which are judged as such.
const NOT_SAID: [&str; 36] = [
    "instructions",
    "tools",
    "tool_choice",
    "metadata",
    "prompt",
    "user",
    "format",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "thinking",
    "signature",
    "encrypted_content",
    "summary",
    "annotations",
    "annotation",
    "context",
    "executed_tools",
    "related_questions",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "safety_identifier",
    "prompt_cache_key",
    "citations",
    "logprobs",
    "error",
    "incomplete_details",
    "model",
    "provider",
    "arguments",
    "partial_json",
    "input",
    "action",
    "obfuscation",
    "search_results",
];

/// Kinds of parts that are not words of the agent: thoughts, calls and what the server did itself.
fn is_beside(kind: &str) -> bool {
    let ends = ["_call", "_call_output", "_tool_use", "_tool_result", "_error"];
    let begins =
        ["function_call_arguments", "custom_tool_call_input", "code_interpreter_call_code"];
    let event = kind.strip_prefix("response.").unwrap_or_default();
    begins.iter().any(|begin| event.starts_with(begin))
        || kind.starts_with("reasoning")
        || kind.starts_with("response.reasoning")
        || kind.starts_with("mcp_")
        || kind.starts_with("response.mcp_")
        || ["thinking", "redacted_thinking", "thinking_delta", "signature_delta"].contains(&kind)
        || ["input_json_delta", "tool_use", "summary_text", "citations_delta", "compaction_delta"]
            .contains(&kind)
        || ends.iter().any(|end| kind.ends_with(end))
}

/// Words in an answer or an event that nobody judged: `said` is what was.
pub(super) fn unjudged_words<'v>(value: &'v Value, said: &str) -> Option<&'v str> {
    match value {
        Value::String(text) => {
            let says = text.split_whitespace().nth(WORDS - 1).is_some();
            (says && !said.contains(text.as_str())).then_some(text.as_str())
        }
        Value::Array(list) => list.iter().find_map(|value| unjudged_words(value, said)),
        Value::Object(members) if is_beside(kind(members)) => None,
        Value::Object(members) => {
            let mut own = members.iter().filter(|(name, _)| !NOT_SAID.contains(&name.as_str()));
            // A name may say something, too: nobody shows it.
            own.find_map(|(_, value)| unjudged_words(value, said))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn kind(members: &Map<String, Value>) -> &str {
    members.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A call as it stands somewhere; what is empty is not said there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    id: String,
    pub(super) name: String,
    arguments: Value,
}

impl Found {
    /// Whether it is this one.
    pub(super) fn is(&self, call: &ToolCall) -> bool {
        let parsed = || call.arguments.parse().unwrap_or_default();
        let same = match &self.arguments {
            Value::Null => true,
            // A custom tool has one text.
            Value::String(text) => {
                text.is_empty()
                    || text == call.arguments.as_str()
                    || parsed().get("input").and_then(Value::as_str) == Some(text)
            }
            input => input.as_object().is_some_and(Map::is_empty) || *input == parsed(),
        };
        same && (self.id.is_empty() || self.id == call.id)
            && (self.name.is_empty() || self.name == call.tool)
    }
}

/// The calls that a client may find in an answer or an event, wherever they stand.
pub(super) fn calls(value: &Value, found: &mut Vec<Found>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| calls(value, found)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
            let id = if text("call_id").is_empty() { text("id") } else { text("call_id") };
            let arguments = members.get("arguments").or_else(|| members.get("input")).cloned();
            let name = match kind(members) {
                "function_call" | "custom_tool_call" | "tool_use" => Some((id, text("name"))),
                kind @ ("local_shell_call" | "shell_call" | "apply_patch_call"
                | "computer_call") => Some((id, kind.trim_end_matches("_call"))),
                "response.function_call_arguments.done"
                | "response.custom_tool_call_input.done" => Some(("", text("name"))),
                _ => None,
            };
            found.extend(name.map(|(id, name)| Found {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.unwrap_or_default(),
            }));
            members.values().for_each(|value| calls(value, found));
        }
        _ => {}
    }
}

/// Bytes at which some readers end a line, and others do not.
const ENDS_FOR_SOME: [&[u8]; 8] =
    [b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"];

/// Whether every line is one that every reader reads alike: of a field of server-sent events, or a
/// comment.
pub(super) fn is_plain(raw: &[u8]) -> bool {
    let known: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let mut lines = raw.split(|byte| matches!(byte, b'\n' | b'\r'));
    // In data such bytes stand within a text of JSON, and are part of it.
    let odd = |line: &[u8]| {
        !line.starts_with(b"data:")
            && ENDS_FOR_SOME.iter().any(|end| memchr::memmem::find(line, end).is_some())
    };
    lines.all(|line| {
        line.is_empty() || known.iter().any(|field| line.starts_with(field)) && !odd(line)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_judged_wherever_they_stand() {
        let lie = "I have cancelled order 7.";
        for (value, odd) in [
            (json!({ "choices": [{ "delta": { "content": "Hello there, friend." } }] }), false),
            (json!({ "choices": [{ "index": 1, "delta": { "content": lie } }] }), true),
            (json!({ "choices": [{ "text": lie }] }), true),
            (json!({ "delta": { "audio": { "transcript": lie } } }), true),
            (json!({ "message": { "content": [{ "type": "text", "text": lie }] } }), true),
            (json!({ "delta": { "type": "text_delta", "text": lie } }), true),
            (json!({ "delta": { "type": "thinking_delta", "thinking": lie } }), false),
            (json!({ "type": "response.completed", "response": { "instructions": lie } }), false),
            (json!({ "response": { "output": [{ "type": "message", "content": lie }] } }), true),
            (json!({ "item": { "type": "web_search_call", "action": { "query": lie } } }), false),
            (json!({ "provider": "Google AI Studio", "model": "a b c" }), false),
            (json!({ "reasoning_details": [{ "text": lie }] }), false),
            (json!({ "completion": lie }), true),
        ] {
            let found = unjudged_words(&value, "Hello there, friend. How are you?");
            assert_eq!(found.is_some(), odd, "{value}");
        }
    }

    #[test]
    fn calls_are_found_wherever_they_stand() {
        let value = json!({ "response": { "output": [
            { "type": "function_call", "call_id": "c1", "id": "fc", "name": "rm_rf" },
            { "type": "local_shell_call", "call_id": "c2" },
            { "type": "mcp_call", "id": "m", "name": "vendor" },
        ] } });
        let mut found = Vec::new();
        calls(&value, &mut found);
        let found: Vec<(&str, &str)> = found.iter().map(|f| (&*f.id, &*f.name)).collect();
        assert_eq!(found, [("c1", "rm_rf"), ("c2", "local_shell")]);
        let call = ToolCall::new("c", "cancel", "{\"id\": 7}");
        for (value, same) in [
            (
                json!({ "type": "function_call", "call_id": "c", "name": "cancel", "arguments": "{\"id\": 7}" }),
                true,
            ),
            (
                json!({ "type": "function_call", "call_id": "c", "name": "cancel", "arguments": "" }),
                true,
            ),
            (
                json!({ "type": "function_call", "call_id": "c", "name": "cancel", "arguments": "{\"id\": 8}" }),
                false,
            ),
            (
                json!({ "type": "tool_use", "id": "c", "name": "cancel", "input": { "id": 7 } }),
                true,
            ),
            (json!({ "type": "tool_use", "id": "c", "name": "cancel", "input": {} }), true),
            (
                json!({ "type": "tool_use", "id": "c", "name": "cancel", "input": { "id": 8 } }),
                false,
            ),
            (json!({ "type": "response.function_call_arguments.done", "arguments": "{}" }), false),
        ] {
            let mut found = Vec::new();
            calls(&value, &mut found);
            assert_eq!(found[0].is(&call), same, "{value}");
        }
    }

    #[test]
    fn lines_that_readers_read_in_different_ways_are_not_plain() {
        for (raw, plain) in [
            ("event: x\r\ndata: {}\r\n\r\n", true),
            (": still there\n\n", true),
            ("\u{feff}data: {}\n\n", false),
            (" data: {}\n\n", false),
            ("DATA: {}\n\n", false),
            ("data:\r {}\n\n", false),
            (": ok\u{b}data: {}\n\n", false),
            ("event: x\u{2028}data: {}\n\n", false),
            ("data: {\"a\":\"\u{2028}\"}\n\n", true),
        ] {
            assert_eq!(is_plain(raw.as_bytes()), plain, "{raw:?}");
        }
    }
}
