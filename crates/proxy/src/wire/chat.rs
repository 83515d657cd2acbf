//! Chat completions.

use counterfoil_model::ToolCall;
use counterfoil_providers::Stop;
use serde_json::{Map, Value, json};

use super::writer::{Writer, index_of};

/// A stream of chunks, of which the client has got some.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// The members that every chunk repeats: id, model, time.
    head: Map<String, Value>,
    usage: Option<Value>,
    begun: bool,
    calls: usize,
}

impl Chunks {
    fn chunk(&mut self, mut delta: Value, finish: Option<&str>) -> String {
        if !std::mem::replace(&mut self.begun, true)
            && let Some(members) = delta.as_object_mut()
        {
            members.insert("role".to_owned(), json!("assistant"));
        }
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        self.written(&json!([choice]), None)
    }

    fn written(&self, choices: &Value, usage: Option<&Value>) -> String {
        let mut chunk = self.head.clone();
        chunk.entry("object").or_insert_with(|| json!("chat.completion.chunk"));
        chunk.insert("choices".to_owned(), choices.clone());
        if let Some(usage) = usage {
            chunk.insert("usage".to_owned(), usage.clone());
        }
        format!("data: {}\n\n", Value::Object(chunk))
    }
}

fn is_something(value: &Value) -> bool {
    !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
}

fn choice(event: &Value) -> Option<&Value> {
    let choices = event.get("choices")?.as_array()?;
    choices.iter().find(|choice| index_of(choice, "index").unwrap_or(0) == 0)
}

impl Writer for Chunks {
    fn learn(&mut self, event: &Value) {
        let Some(members) = event.as_object() else { return };
        if self.head.is_empty() {
            self.head = members.clone();
            self.head.retain(|name, _| name != "choices" && name != "usage");
        }
        let usage = members.get("usage").filter(|usage| !usage.is_null());
        self.usage = usage.cloned().or(self.usage.take());
    }

    fn given(&mut self, event: &Value) {
        let Some(delta) = choice(event).and_then(|choice| choice.get("delta")) else { return };
        self.begun = true;
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.calls = self.calls.max(index_of(call, "index").unwrap_or(self.calls) + 1);
        }
    }

    fn closes(&self, event: &Value) -> bool {
        let finished = |choice: &Value| choice.get("finish_reason").is_some_and(Value::is_string);
        choice(event).is_some_and(finished)
    }

    fn is_call(&self, event: &Value) -> bool {
        let delta = choice(event).and_then(|choice| choice.get("delta"));
        let there = |name: &str| delta.and_then(|delta| delta.get(name)).is_some_and(is_something);
        there("tool_calls") || there("function_call")
    }

    fn text(&mut self, text: &str) -> String {
        self.chunk(json!({ "content": text }), None)
    }

    fn calls(&mut self, calls: &[ToolCall], _: &[Value]) -> String {
        let mut all = String::new();
        for call in calls {
            let mut part = one(call);
            if let Some(members) = part.as_object_mut() {
                members.insert("index".to_owned(), json!(self.calls));
            }
            self.calls += 1;
            all.push_str(&self.chunk(json!({ "tool_calls": [part] }), None));
        }
        all
    }

    fn refusal(&mut self, text: &str) -> String {
        self.chunk(json!({ "refusal": text }), None)
    }

    fn end(&mut self, stop: Stop) -> String {
        let mut end = self.chunk(json!({}), Some(reason(stop)));
        if let Some(usage) = &self.usage {
            end.push_str(&self.written(&json!([]), Some(usage)));
        }
        end.push_str("data: [DONE]\n\n");
        end
    }
}

fn reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Calls => "tool_calls",
        Stop::Length => "length",
        Stop::Refused => "content_filter",
        _ => "stop",
    }
}

fn one(call: &ToolCall) -> Value {
    let function = json!({ "name": call.tool, "arguments": call.arguments.as_str() });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// The choice that is judged.
fn judged(answer: &mut Value) -> Option<&mut Map<String, Value>> {
    let mut choices = answer.get_mut("choices")?.as_array_mut()?.iter_mut();
    choices.find(|choice| index_of(choice, "index").unwrap_or(0) == 0)?.as_object_mut()
}

fn message(answer: &mut Value) -> Option<&mut Map<String, Value>> {
    judged(answer)?.get_mut("message")?.as_object_mut()
}

pub(super) fn append(answer: &mut Value, words: &str) {
    let Some(message) = message(answer) else { return };
    let before = message.get("content").and_then(Value::as_str).unwrap_or_default();
    let whole = format!("{before}{words}");
    message.insert("content".to_owned(), json!(whole));
}

pub(super) fn replace(answer: &mut Value, words: &str) {
    if let Some(choice) = judged(answer) {
        choice.entry("message").or_insert_with(|| json!({ "role": "assistant" }));
    }
    keep_judged(answer);
    if let Some(message) = message(answer) {
        message.insert("content".to_owned(), json!(words));
        message.remove("refusal");
    }
}

pub(super) fn with_calls(answer: &mut Value, calls: &[ToolCall]) {
    keep_judged(answer);
    let Some(message) = message(answer) else { return };
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.iter().map(one).collect());
        return;
    }
    message.remove("tool_calls");
    message.remove("function_call");
    if let Some(choice) = judged(answer) {
        choice.insert("finish_reason".to_owned(), json!("stop"));
    }
}

pub(super) fn refuse(answer: &mut Value, why: &str) {
    with_calls(answer, &[]);
    if let Some(message) = message(answer) {
        message.insert("content".to_owned(), Value::Null);
        message.insert("refusal".to_owned(), json!(why));
    }
}

/// Removes what may repeat the withheld words or calls in another form: single tokens
/// (`logprobs`), audio, parsed values.
fn keep_judged(answer: &mut Value) {
    let Some(choice) = judged(answer) else { return };
    choice.retain(|name, _| ["index", "message", "finish_reason"].contains(&name.as_str()));
    if let Some(Value::Object(message)) = choice.get_mut("message") {
        let kept = ["role", "content", "refusal", "tool_calls", "function_call"];
        message.retain(|name, _| kept.contains(&name.as_str()));
    }
}
