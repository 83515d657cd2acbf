//! Results of evaluation tools, whose rows are read as the conversations that they hold: Inspect,
//! promptfoo, DeepEval.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::sketch::Sketch;

/// Whether the beginning of a document is a file of results.
pub(crate) fn recognises(sketch: &Sketch) -> bool {
    sketch.has("samples[].messages[].role")
        || sketch.has_all(&["results.results[].prompt.raw"])
        || ["", "[].", "test_cases[].", "testCases[]."].iter().any(|at| {
            let answer = ["actual_output", "actualOutput"].map(|name| format!("{at}{name}"));
            sketch.has(&format!("{at}input")) && answer.iter().any(|path| sketch.has(path))
        })
        || sketch.has_all(&["epoch", "messages[].role"])
}

/// The first conversation of a file of results, or of a list of them.
pub(crate) fn first(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('[') {
        return rows(text)?.conversations.into_iter().next();
    }
    let list: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    rows(list.first()?.get())?.conversations.into_iter().next()
}

/// The rows of a file of results.
pub(crate) struct Rows {
    /// Those that hold a conversation, as objects with `messages`.
    pub(crate) conversations: Vec<String>,
    /// How many hold none: an answer that was never given, mostly.
    pub(crate) without: usize,
}

/// The rows of a file of results; `None` for anything else, and where none holds a conversation.
pub(crate) fn rows(text: &str) -> Option<Rows> {
    // Which of them it may be, before all of it is parsed.
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

/// A sample of Inspect: the whole conversation.
fn sample(sample: &Value) -> Option<Value> {
    let messages = sample.get("messages")?.as_array()?;
    let messages: Vec<Value> = messages.iter().map(inspected).collect();
    let id = match (sample.get("id")?, sample.get("epoch")) {
        (id, Some(epoch)) => format!("{}/{epoch}", word(id)),
        (id, None) => word(id),
    };
    Some(json!({ "id": id, "messages": messages }))
}

/// A message of Inspect: a tool that failed has `error`.
fn inspected(message: &Value) -> Value {
    let Value::Object(mut message) = message.clone() else { return message.clone() };
    for known in ["id", "source", "metadata", "function"] {
        message.remove(known);
    }
    if let Some(error) = message.remove("error").filter(|error| !error.is_null()) {
        let said = error.get("message").map(word).unwrap_or_default();
        let empty = message.get("content").is_none_or(|content| content == "");
        if empty {
            message.insert("content".to_owned(), said.into());
        }
        message.insert("is_error".to_owned(), true.into());
    }
    Value::Object(message)
}

/// A row of promptfoo: the prompt, mostly a conversation as text, and what came back.
fn prompted(row: &Value) -> Option<Value> {
    let raw = row.pointer("/prompt/raw")?.as_str()?;
    let asked = match serde_json::from_str(raw) {
        Ok(Value::Array(messages)) => Some(messages),
        Ok(Value::Object(mut asked)) => match asked.remove("messages") {
            Some(Value::Array(messages)) => Some(messages),
            _ => None,
        },
        _ => None,
    };
    // Behind a prompt that is plain text, an agent may have called tools that are not in the row.
    let recorded = asked.is_some();
    let mut messages = asked.unwrap_or_else(|| vec![json!({ "role": "user", "content": raw })]);
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

/// A conversation as an object. That nobody recorded whether tools were called is a member that
/// nobody reads: a gap.
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

/// A member by either of the names that DeepEval writes.
fn either<'v>(value: &'v Value, names: [&str; 2]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name)).filter(|value| !value.is_null())
}

/// A test case of DeepEval: what was asked, the tools that were called, what was answered.
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

/// A text as it is, anything else as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Roles and contents of the only conversation.
    fn read(value: &Value) -> Option<String> {
        let texts = rows(&value.to_string())?.conversations;
        let whole: Value = serde_json::from_str(texts.first()?).unwrap();
        let said = |message: &Value| {
            let role = message["role"].as_str().unwrap();
            let failed = if message["is_error"] == true { " failed" } else { "" };
            let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
            let calls = if calls > 0 { format!(" {calls} calls") } else { String::new() };
            format!("{role}{failed}{calls} {}", message["content"].as_str().unwrap_or_default())
        };
        let messages = whole["messages"].as_array().unwrap();
        let unread = if whole.get("tool_calls").is_some() { ", calls not recorded" } else { "" };
        let shown: Vec<String> = messages.iter().map(said).collect();
        Some(format!("{}: {}{unread}", word(&whole["id"]), shown.join(" | ")))
    }

    #[test]
    fn rows_are_conversations() {
        let asked = json!([{ "role": "user", "content": "Go." }]);
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
                    "prompt": { "raw": asked.to_string() }, "response": { "output": "Done." },
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
