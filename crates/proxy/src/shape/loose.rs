//! Counts letters at places of an answer that its wire does not define. A few letters are a name or
//! a state; more could be words that some client shows although they were not judged. Letters are
//! counted over the whole answer, because words may come in pieces.

use std::collections::BTreeMap;

use serde_json::Value;

use super::members::{Members, has, text};
use super::unreadable::{Read, Unreadable};

/// The maximum number of letters that are allowed.
const MOST: usize = 15;

/// The weight of a letter in scripts whose words have few letters and no spaces.
const DENSE: usize = 4;

/// The minimum number of digits that make a text an id.
const DIGITS_OF_ID: usize = 4;

/// Members with a name or a state. If it has several words, they are judged.
const STATES: &[&str] = &[
    "id",
    "object",
    "type",
    "role",
    "status",
    "phase",
    "service_tier",
    "system_fingerprint",
    "safety_identifier",
    "finish_reason",
    "native_finish_reason",
    "stop_reason",
];

/// Members that do not contain the agent's words: the request repeated, sources, thoughts.
const BESIDE: &[&str] = &[
    // What it is, and for which request.
    "model",
    "provider",
    "created",
    "created_at",
    "instructions",
    "tools",
    "tool_choice",
    "metadata",
    "prompt",
    "user",
    "format",
    "truncation",
    "prompt_cache_key",
    "prompt_cache_retention",
    "background",
    "conversation",
    "verbosity",
    "effort",
    "access_programs",
    "image",
    "input_transformations",
    "prompt_cache_diagnostics",
    "prompt_cache_options",
    "diagnostics",
    "tool_usage",
    "billing",
    "content_filters",
    "toolset_name",
    "namespace",
    "created_by",
    // How it ended, and what it cost.
    "stop_sequence",
    "stop_details",
    "incomplete_details",
    "error",
    "usage",
    "timings",
    "time_info",
    "x_groq",
    "stats",
    "container",
    "context_management",
    "amazon-bedrock-invocationMetrics",
    "amazon-bedrock-trace",
    // Results of a content filter.
    "content_filter_results",
    "content_filter_result",
    "content_filter_offsets",
    "prompt_filter_results",
    "prompt_annotations",
    "moderation",
    "safety_ratings",
    // Thoughts.
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_text",
    "reasoning_opaque",
    "thinking",
    "thinking_blocks",
    "thought",
    "signature",
    "encrypted_content",
    "summary",
    "extra_content",
    "thought_signature",
    "provider_specific_fields",
    // Sources, and the server's work on them.
    "annotations",
    "annotation",
    "context",
    "executed_tools",
    "related_questions",
    "citations",
    "search_results",
    "images",
    "caller",
    // Single tokens, and padding.
    "logprobs",
    "prompt_logprobs",
    "token_ids",
    "prompt_token_ids",
    "obfuscation",
    "kv_transfer_params",
];

/// Members with a server's words about an answer, which clients may show. They are judged, too.
const REMARKS: [&str; 3] = ["stop_details", "incomplete_details", "container"];

/// Suffixes of further members with a name, a time or a state.
const ENDINGS: [&str; 6] = ["_id", "_at", "_reason", "_tier", "_fingerprint", "_hash"];

/// Kinds of objects that are calls.
const CALLS: [&str; 10] = [
    "mcp_approval_request",
    "function_call",
    "custom_tool_call",
    "tool_use",
    "tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "input_json_delta",
];

/// The letters so far.
#[derive(Debug, Default)]
pub(super) struct Loose {
    letters: usize,
    /// The last value of each member. A repeated value is not a stream of words.
    last: BTreeMap<String, String>,
    /// The server's words about the answer.
    pub(super) remarks: Vec<String>,
}

impl Loose {
    /// Counts all members except the known ones. Returns whether there were any letters.
    pub(super) fn rest(&mut self, members: &Members, known: &[&str]) -> Read<bool> {
        let mut some = false;
        for (name, value) in members {
            if known.contains(&name.as_str()) {
                continue;
            }
            if known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                return Err(Unreadable::Member);
            }
            some |= self.count(name, value)?;
        }
        Ok(some)
    }

    /// Counts the letters in a member. Returns whether there were any.
    pub(super) fn count(&mut self, name: &str, value: &Value) -> Read<bool> {
        if REMARKS.contains(&name) || is_state(name) {
            return Ok(self.remark(value));
        }
        if BESIDE.contains(&name) {
            return Ok(false);
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(false),
            Value::String(text) => self.letters(name, text),
            Value::Array(list) => {
                let mut some = false;
                for value in list {
                    some |= self.count(name, value)?;
                }
                Ok(some)
            }
            Value::Object(members) => {
                if CALLS.contains(&text(members, "type")) || is_call(members) {
                    return Err(Unreadable::LooseCall);
                }
                let mut some = false;
                for (inner, value) in members {
                    some |= self.count(inner, value)?;
                }
                Ok(some)
            }
        }
    }

    /// Keeps the words in a value. Returns whether there were any. A single ASCII word is a state.
    fn remark(&mut self, value: &Value) -> bool {
        match value {
            Value::String(text)
                if text.trim().contains(|c: char| c.is_whitespace() || !c.is_ascii()) =>
            {
                self.remarks.push(text.clone());
                true
            }
            Value::Array(list) => list.iter().fold(false, |some, value| self.remark(value) | some),
            Value::Object(members) => {
                members.values().fold(false, |some, value| self.remark(value) | some)
            }
            _ => false,
        }
    }

    fn letters(&mut self, name: &str, text: &str) -> Read<bool> {
        let count = weight(text);
        if count == 0 || self.last.get(name).is_some_and(|last| last == text) {
            return Ok(false);
        }
        self.last.insert(name.to_owned(), text.to_owned());
        self.letters += count;
        if self.letters > MOST { Err(Unreadable::LooseWords) } else { Ok(true) }
    }
}

/// Whether a member does not contain the agent's words.
pub(super) fn is_beside(name: &str) -> bool {
    BESIDE.contains(&name) || is_state(name)
}

fn is_state(name: &str) -> bool {
    STATES.contains(&name) || ENDINGS.iter().any(|end| name.ends_with(end))
}

/// Whether an object has a name and arguments.
fn is_call(members: &Members) -> bool {
    let named = ["name", "tool_name", "tool"].iter().any(|name| has(members, name));
    let given = ["arguments", "input", "parameters", "args"];
    named && given.iter().any(|name| has(members, name))
}

fn weight(text: &str) -> usize {
    let is_id = !text.contains(char::is_whitespace)
        && text.bytes().filter(u8::is_ascii_digit).count() >= DIGITS_OF_ID;
    if is_id {
        return 0;
    }
    let of = |letter: char| match letter.is_alphabetic() {
        false => 0,
        true if letter.is_lowercase() || letter.is_uppercase() => 1,
        true => DENSE,
    };
    text.chars().map(of).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_counted_over_the_whole_answer() {
        let lie = "I have cancelled order 7.";
        for (pieces, odd) in [
            (vec![json!({ "completion": lie })], true),
            (lie.split_inclusive(' ').map(|word| json!({ "completion": word })).collect(), true),
            (lie.chars().map(|letter| json!({ "completion": letter.to_string() })).collect(), true),
            (vec![json!({ "completion": "我已经取消了订单7。" })], true),
            ("我已经取消了订单7。".chars().map(|c| json!({ "x": c.to_string() })).collect(), true),
            (vec![json!({ "x": [{ "type": "text", "text": lie }] })], true),
            (vec![json!({ "x": { "type": "function_call", "name": "f" } })], true),
            (vec![json!({ "x": { "name": "f", "arguments": "{\"a\":1}" } })], true),
            (vec![json!({ "x": { "type": "mcp_approval_request", "id": "1" } })], true),
            (vec![json!({ "tools": [{ "name": "f", "parameters": { "a": 1 } }] })], false),
            (vec![json!({ "region": "us-east" }); 1000], false),
            (vec![json!({ "reasoning_details": [{ "text": lie }], "model": "a b c" })], false),
            (vec![json!({ "request": "req_01jbd6g2qdfw2adyrt2az8hz4w" })], false),
        ] {
            let mut loose = Loose::default();
            let read = pieces.iter().map(|p| loose.rest(p.as_object().unwrap(), &[]));
            assert_eq!(read.collect::<Result<Vec<_>, _>>().is_err(), odd, "{pieces:?}");
        }
    }

    #[test]
    fn known_members_have_one_letter_case() {
        let members = json!({ "Content": "x", "content": "y" });
        let read = Loose::default().rest(members.as_object().unwrap(), &["content"]);
        assert_eq!(read, Err(Unreadable::Member));
    }
}
