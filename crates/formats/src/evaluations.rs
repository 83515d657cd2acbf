//! Result files of evaluation tools (Inspect, promptfoo, DeepEval). Each row is read as the
//! conversation it contains.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::sketch::Sketch;

/// Whether a document begins like a result file.
pub(crate) fn recognises(sketch: &Sketch) -> bool {
    sketch.has("samples[].messages[].role")
        || sketch.has_all(&["results.results[].prompt.raw"])
        || ["", "[].", "test_cases[].", "testCases[]."].iter().any(|at| {
            let answer = ["actual_output", "actualOutput"].map(|name| format!("{at}{name}"));
            sketch.has(&format!("{at}input")) && answer.iter().any(|path| sketch.has(path))
        })
        || sketch.has_all(&["epoch", "messages[].role"])
}

/// The first conversation of a result file, or of a list of them.
pub(crate) fn first(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('[') {
        return rows(text)?.conversations.into_iter().next();
    }
    let list: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    rows(list.first()?.get())?.conversations.into_iter().next()
}

/// The rows of a result file.
pub(crate) struct Rows {
    /// The rows that contain a conversation, as objects with `messages`.
    pub(crate) conversations: Vec<String>,
    /// The number of rows without a conversation, usually because the model gave no answer.
    pub(crate) without: usize,
}

/// The rows of a result file; `None` for anything else, or if no row contains a conversation.
pub(crate) fn rows(text: &str) -> Option<Rows> {
    // A cheap check before the whole text is parsed.
    let text = text.trim_start();
    let may_be =
        ["\"samples\"", "\"results\"", "\"actual_output\"", "\"actualOutput\"", "\"epoch\""];
    if text.starts_with("{\"role\"") || !may_be.iter().any(|member| text.contains(member)) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let rows: Vec<Option<Value>> = if let Some(samples) = list(&value, "/samples") {
        samples.iter().map(sample).collect()
    } else if let Some(results) = list(&value, "/results/results") {
        results.iter().map(prompted).collect()
    } else if let Some(cases) = ["/test_cases", "/testCases"].iter().find_map(|at| list(&value, at))
    {
        cases.iter().map(test_case).collect()
    } else if value.get("epoch").is_some() {
        vec![sample(&value)]
    } else {
        vec![test_case(&value)]
    };
    let conversations: Vec<String> = rows.iter().flatten().map(Value::to_string).collect();
    let without = rows.len() - conversations.len();
    (!conversations.is_empty()).then_some(Rows { conversations, without })
}

fn list<'v>(value: &'v Value, place: &str) -> Option<&'v Vec<Value>> {
    value.pointer(place)?.as_array()
}

/// A sample of Inspect, which contains the whole conversation.
fn sample(sample: &Value) -> Option<Value> {
    let messages = sample.get("messages")?.as_array()?;
    let messages: Vec<Value> = messages.iter().map(inspected).collect();
    let id = match (sample.get("id")?, sample.get("epoch")) {
        (id, Some(epoch)) => format!("{}/{epoch}", word(id)),
        (id, None) => word(id),
    };
    Some(json!({ "id": id, "messages": messages }))
}

/// A message of Inspect; a failed tool has an `error` member.
fn inspected(message: &Value) -> Value {
    let Value::Object(mut message) = message.clone() else { return message.clone() };
    for known in ["id", "source", "metadata", "function"] {
        message.remove(known);
    }
    if let Some(error) = message.remove("error").filter(|error| !error.is_null()) {
        let text = error.get("message").map(word).unwrap_or_default();
        let empty = message.get("content").is_none_or(|content| content == "");
        if empty {
            message.insert("content".to_owned(), text.into());
        }
        message.insert("is_error".to_owned(), true.into());
    }
    Value::Object(message)
}

/// A row of promptfoo: the prompt, which is usually a conversation as text, and the response.
fn prompted(row: &Value) -> Option<Value> {
    let raw = row.pointer("/prompt/raw")?.as_str()?;
    let prompt = match serde_json::from_str(raw) {
        Ok(Value::Array(messages)) => Some(messages),
        Ok(Value::Object(mut prompt)) => match prompt.remove("messages") {
            Some(Value::Array(messages)) => Some(messages),
            _ => None,
        },
        _ => None,
    };
    // If the prompt is plain text, the row does not show the tools the agent may have called.
    let recorded = prompt.is_some();
    let mut messages = prompt.unwrap_or_else(|| vec![json!({ "role": "user", "content": raw })]);
    match row.pointer("/response/output")? {
        Value::String(text) => messages.push(json!({ "role": "assistant", "content": text })),
        output @ Value::Object(members) if members.contains_key("role") => {
            messages.push(output.clone());
        }
        Value::Object(members) if members.contains_key("tool_calls") => {
            let mut message = members.clone();
            message.insert("role".to_owned(), "assistant".into());
            messages.push(Value::Object(message));
        }
        other => messages.push(json!({ "role": "assistant", "content": other.to_string() })),
    }
    let id = row.get("id").or_else(|| row.get("testIdx"));
    Some(whole(id, messages, recorded))
}

/// Wraps messages as a conversation object. If tool calls were not recorded, adds a member that no
/// reader understands, which results in a gap.
fn whole(id: Option<&Value>, messages: Vec<Value>, recorded: bool) -> Value {
    let mut whole = Map::new();
    if let Some(id) = id.filter(|id| !id.is_null()) {
        whole.insert("id".to_owned(), word(id).into());
    }
    whole.insert("messages".to_owned(), messages.into());
    if !recorded {
        whole.insert("tool_calls".to_owned(), "not recorded".into());
    }
    Value::Object(whole)
}

/// A member under either of the two spellings that DeepEval uses.
fn either<'v>(value: &'v Value, names: [&str; 2]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name)).filter(|value| !value.is_null())
}

/// A test case of DeepEval: the input, the tools called, the answer.
fn test_case(case: &Value) -> Option<Value> {
    let answer = either(case, ["actual_output", "actualOutput"])?.as_str()?;
    let mut messages = Vec::new();
    for names in [["context", "context"], ["retrieval_context", "retrievalContext"]] {
        let texts = either(case, names).and_then(Value::as_array);
        for text in texts.into_iter().flatten() {
            messages.push(json!({ "role": "system", "content": word(text) }));
        }
    }
    messages.push(json!({ "role": "user", "content": case.get("input").map(word)? }));
    let called = either(case, ["tools_called", "toolsCalled"]).and_then(Value::as_array);
    for (at, tool) in called.into_iter().flatten().enumerate() {
        let id = format!("call-{}", at + 1);
        let arguments = either(tool, ["input_parameters", "inputParameters"]);
        let arguments = arguments.map_or_else(|| "{}".to_owned(), Value::to_string);
        let function = json!({ "name": tool.get("name")?, "arguments": arguments });
        messages.push(json!({
            "role": "assistant", "content": "", "tool_calls": [{ "id": id, "function": function }],
        }));
        if let Some(output) = tool.get("output").filter(|output| !output.is_null()) {
            let output = word(output);
            messages.push(json!({ "role": "tool", "tool_call_id": id, "content": output }));
        }
    }
    messages.push(json!({ "role": "assistant", "content": answer }));
    Some(whole(case.get("name"), messages, called.is_some()))
}

/// The content of a string, or any other value as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The roles and contents of the only conversation.
    fn read(value: &Value) -> Option<String> {
        let texts = rows(&value.to_string())?.conversations;
        let whole: Value = serde_json::from_str(texts.first()?).unwrap();
        let line = |message: &Value| {
            let role = message["role"].as_str().unwrap();
            let failed = if message["is_error"] == true { " failed" } else { "" };
            let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
            let calls = if calls > 0 { format!(" {calls} calls") } else { String::new() };
            format!("{role}{failed}{calls} {}", message["content"].as_str().unwrap_or_default())
        };
        let messages = whole["messages"].as_array().unwrap();
        let unread = if whole.get("tool_calls").is_some() { ", calls not recorded" } else { "" };
        let shown: Vec<String> = messages.iter().map(line).collect();
        Some(format!("{}: {}{unread}", word(&whole["id"]), shown.join(" | ")))
    }

    #[test]
    fn rows_are_conversations() {
        let prompt = json!([{ "role": "user", "content": "Go." }]);
        for (value, expected) in [
            (
                json!({ "samples": [{ "id": 7, "epoch": 1, "messages": [
                    { "role": "user", "content": "Go." },
                    { "role": "assistant", "content": "", "tool_calls": [{}] },
                    { "role": "tool", "content": "", "error": { "message": "no" } },
                ] }] }),
                "7/1: user Go. | assistant 1 calls  | tool failed no",
            ),
            (
                json!({ "results": { "results": [{
                    "prompt": { "raw": prompt.to_string() }, "response": { "output": "Done." },
                }] } }),
                "null: user Go. | assistant Done.",
            ),
            (
                json!({ "results": { "results": [{
                    "id": "r", "prompt": { "raw": "Go." }, "response": { "output": "Done." },
                }] } }),
                "r: user Go. | assistant Done., calls not recorded",
            ),
            (
                json!({ "input": "Go.", "actualOutput": "Done.", "toolsCalled": [
                    { "name": "f", "inputParameters": { "a": 1 }, "output": 7 },
                ] }),
                "null: user Go. | assistant 1 calls  | tool 7 | assistant Done.",
            ),
            (
                json!({ "name": "n", "input": "Go.", "actual_output": "Done.", "context": ["x"] }),
                "n: system x | user Go. | assistant Done., calls not recorded",
            ),
        ] {
            assert_eq!(read(&value).as_deref(), Some(expected), "{value}");
        }
        for other in [json!({ "samples": [] }), json!({ "results": [] }), json!({ "input": "Go." })]
        {
            assert_eq!(read(&other), None, "{other}");
        }
    }
}
