//! Whether everything that a reader may take for words or calls of the agent was judged. What passes
//! as it came holds more than what we read in it: a server may say it in a member, in an item or at a
//! place where nobody judges, and a client may show it all the same.

use serde_json::{Map, Value};

/// So many words in a row say something.
const WORDS: usize = 3;

/// Members that hold what is not the agent's: its own request again, names, sources, thoughts, and
/// the arguments of calls, which are judged as such.
const NOT_SAID: [&str; 27] = [
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
    let ends = ["_call", "_call_output", "_tool_use", "_tool_result", "_result", "_error"];
    kind.starts_with("reasoning")
        || kind.starts_with("response.reasoning")
        || kind.starts_with("mcp_")
        || kind.starts_with("response.mcp_")
        || ["thinking", "redacted_thinking", "thinking_delta", "signature_delta"].contains(&kind)
        || ["input_json_delta", "tool_use", "summary_text", "citations_delta"].contains(&kind)
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

/// The calls that a client may find in an answer or an event, by id and name, wherever they stand.
pub(super) fn calls(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| calls(value, found)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
            let id = if text("call_id").is_empty() { text("id") } else { text("call_id") };
            let name = match kind(members) {
                "function_call" | "custom_tool_call" | "tool_use" => Some(text("name")),
                kind @ ("local_shell_call" | "shell_call" | "apply_patch_call"
                | "computer_call") => Some(kind.trim_end_matches("_call")),
                _ => None,
            };
            found.extend(name.map(|name| (id.to_owned(), name.to_owned())));
            members.values().for_each(|value| calls(value, found));
        }
        _ => {}
    }
}

/// Whether every line is one that every reader reads alike: of a field of server-sent events, or a
/// comment.
pub(super) fn is_plain(raw: &[u8]) -> bool {
    let known: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let mut lines = raw.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.all(|line| line.is_empty() || known.iter().any(|field| line.starts_with(field)))
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
        let pair = |id: &str, name: &str| (id.to_owned(), name.to_owned());
        assert_eq!(found, [pair("c1", "rm_rf"), pair("c2", "local_shell")]);
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
        ] {
            assert_eq!(is_plain(raw.as_bytes()), plain, "{raw:?}");
        }
    }
}
