//! OpenAI's responses API.

use std::collections::BTreeMap;

use counterfoil_model::ToolCall;
use counterfoil_providers::Stop;
use serde_json::{Map, Value, json};

use super::writer::{Writer, event, index_of, kind_of, text_of};

/// Kinds of calls that the client makes.
pub(crate) const CALLS: [&str; 6] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
];

/// A stream of items, of which the client has got some.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// The latest state of the response.
    response: Map<String, Value>,
    sequence: u64,
    /// Whether the client has the beginning.
    begun: bool,
    /// The items that ended, by index.
    ended: BTreeMap<usize, Value>,
    open: Option<Open>,
    next: usize,
    /// The number of items that we created.
    made: usize,
}

/// An item that has not ended.
#[derive(Debug)]
struct Open {
    at: usize,
    item: Value,
    /// The index of the part that has not ended, and its words.
    part: Option<(usize, String)>,
}

impl Items {
    fn event(&mut self, kind: &str, mut members: Value) -> String {
        if let Some(members) = members.as_object_mut() {
            members.insert("type".to_owned(), json!(kind));
            members.insert("sequence_number".to_owned(), json!(self.sequence));
        }
        self.sequence += 1;
        event(kind, &members)
    }

    /// Writes the beginning of the stream, if the client does not have it.
    fn start(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let response = Value::Object(self.response.clone());
        out.push_str(&self.event("response.created", json!({ "response": response })));
    }

    /// Writes a whole item, unchanged.
    fn item(&mut self, item: &Value, out: &mut String) {
        self.close(out);
        let at = self.next;
        self.next += 1;
        let members = json!({ "output_index": at, "item": item });
        out.push_str(&self.event("response.output_item.added", members.clone()));
        out.push_str(&self.event("response.output_item.done", members));
        self.ended.insert(at, item.clone());
    }

    /// Begins an item with an id of ours.
    fn begin(&mut self, mut item: Value, prefix: &str, out: &mut String) {
        self.start(out);
        self.close(out);
        let (at, id) = (self.next, format!("{prefix}_counterfoil_{}", self.made));
        self.next += 1;
        self.made += 1;
        if let Some(members) = item.as_object_mut() {
            members.insert("id".to_owned(), json!(id));
            members.insert("status".to_owned(), json!("in_progress"));
        }
        let added = json!({ "output_index": at, "item": item });
        out.push_str(&self.event("response.output_item.added", added));
        self.open = Some(Open { at, item, part: None });
    }

    /// Ends whatever is open.
    fn close(&mut self, out: &mut String) {
        let Some(Open { at, mut item, part }) = self.open.take() else { return };
        let id = item.get("id").cloned().unwrap_or_default();
        if let Some((index, text)) = part {
            let place = json!({ "item_id": id, "output_index": at, "content_index": index });
            let with = |name: &str, value: Value| {
                let mut members = place.as_object().cloned().unwrap_or_default();
                members.insert(name.to_owned(), value);
                Value::Object(members)
            };
            let part = json!({ "type": "output_text", "text": text, "annotations": [] });
            out.push_str(&self.event("response.output_text.done", with("text", json!(text))));
            out.push_str(&self.event("response.content_part.done", with("part", part.clone())));
            if let Some(content) = item.get_mut("content").and_then(Value::as_array_mut) {
                content.push(part);
            }
        }
        if let Some(members) = item.as_object_mut() {
            members.insert("status".to_owned(), json!("completed"));
        }
        let done = json!({ "output_index": at, "item": item });
        out.push_str(&self.event("response.output_item.done", done));
        self.ended.insert(at, item);
    }

    fn part(&mut self, out: &mut String) -> Option<Value> {
        let is_message = |open: &Open| kind_of(&open.item) == "message";
        if !self.open.as_ref().is_some_and(is_message) {
            let item = json!({ "type": "message", "role": "assistant", "content": [] });
            self.begin(item, "msg", out);
        }
        let open = self.open.as_mut()?;
        let id = open.item.get("id").cloned().unwrap_or_default();
        let (at, new) = (open.at, open.part.is_none());
        let ended = open.item.get("content").and_then(Value::as_array).map_or(0, Vec::len);
        let (index, _) = open.part.get_or_insert_with(|| (ended, String::new()));
        let place = json!({ "item_id": id, "output_index": at, "content_index": *index });
        if new {
            let mut added = place.clone();
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            added.as_object_mut()?.insert("part".to_owned(), part);
            out.push_str(&self.event("response.content_part.added", added));
        }
        Some(place)
    }
}

impl Writer for Items {
    fn learn(&mut self, event: &Value) {
        if let Some(response) = event.get("response").and_then(Value::as_object) {
            self.response = response.clone();
        }
    }

    fn given(&mut self, event: &Value) {
        self.begun = true;
        let number = event.get("sequence_number").and_then(Value::as_u64);
        self.sequence = number.map_or(self.sequence, |number| number + 1);
        let at = index_of(event, "output_index").unwrap_or(self.next);
        let item = || event.get("item").cloned().unwrap_or_default();
        match kind_of(event) {
            "response.output_item.added" => {
                self.open = Some(Open { at, item: item(), part: None });
                self.next = self.next.max(at + 1);
            }
            "response.content_part.added" => {
                if let Some(open) = &mut self.open {
                    open.part = index_of(event, "content_index").map(|at| (at, String::new()));
                }
            }
            "response.output_text.delta" => {
                if let Some(Open { part: Some((_, text)), .. }) = &mut self.open {
                    text.push_str(text_of(event, "delta"));
                }
            }
            "response.content_part.done" => {
                if let Some(open) = &mut self.open {
                    open.part = None;
                    let content = open.item.get_mut("content").and_then(Value::as_array_mut);
                    let part = event.get("part").cloned();
                    content.into_iter().for_each(|content| content.extend(part.clone()));
                }
            }
            "response.output_item.done" => {
                self.ended.insert(at, item());
                self.next = self.next.max(at + 1);
                self.open = None;
            }
            _ => {}
        }
    }

    fn closes(&self, event: &Value) -> bool {
        let kinds = ["response.completed", "response.incomplete", "response.failed"];
        kinds.contains(&kind_of(event))
    }

    fn is_call(&self, event: &Value) -> bool {
        event.get("item").is_some_and(|item| CALLS.contains(&kind_of(item)))
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        let Some(mut place) = self.part(&mut out) else { return out };
        if let Some(members) = place.as_object_mut() {
            members.insert("delta".to_owned(), json!(text));
        }
        if let Some(Open { part: Some((_, words)), .. }) = &mut self.open {
            words.push_str(text);
        }
        out.push_str(&self.event("response.output_text.delta", place));
        out
    }

    fn calls(&mut self, calls: &[ToolCall], kept: &[Value]) -> String {
        let mut out = String::new();
        self.start(&mut out);
        // The server's own work comes first, unchanged.
        for item in kept {
            let known = self.ended.values().any(|known| known.get("id") == item.get("id"));
            if !known && kind_of(item).ends_with("_call") && !CALLS.contains(&kind_of(item)) {
                self.item(item, &mut out);
            }
        }
        for call in calls {
            if let Some(item) = kept.iter().find(|item| text_of(item, "call_id") == call.id) {
                self.item(item, &mut out);
                continue;
            }
            let mut item = one(call);
            let arguments = call.arguments.as_str();
            if let Some(members) = item.as_object_mut() {
                members.insert("arguments".to_owned(), json!(""));
            }
            self.begin(item, "fc", &mut out);
            let Some(open) = &mut self.open else { continue };
            if let Some(members) = open.item.as_object_mut() {
                members.insert("arguments".to_owned(), json!(arguments));
            }
            let (at, id) = (open.at, open.item.get("id").cloned().unwrap_or_default());
            let delta = json!({ "item_id": id, "output_index": at, "delta": arguments });
            out.push_str(&self.event("response.function_call_arguments.delta", delta));
            let done = json!({ "item_id": id, "output_index": at, "arguments": arguments });
            out.push_str(&self.event("response.function_call_arguments.done", done));
            self.close(&mut out);
        }
        out
    }

    fn refusal(&mut self, text: &str) -> String {
        let mut out = String::new();
        let item = json!({ "type": "message", "role": "assistant", "content": [] });
        self.begin(item, "msg", &mut out);
        let Some(open) = &mut self.open else { return out };
        let part = json!({ "type": "refusal", "refusal": text });
        if let Some(content) = open.item.get_mut("content").and_then(Value::as_array_mut) {
            content.push(part.clone());
        }
        let (at, id) = (open.at, open.item.get("id").cloned().unwrap_or_default());
        let with = |name: &str, value: Value| json!({ "item_id": id, "output_index": at, "content_index": 0, name: value });
        let empty = json!({ "type": "refusal", "refusal": "" });
        out.push_str(&self.event("response.content_part.added", with("part", empty)));
        out.push_str(&self.event("response.refusal.delta", with("delta", json!(text))));
        out.push_str(&self.event("response.refusal.done", with("refusal", json!(text))));
        out.push_str(&self.event("response.content_part.done", with("part", part)));
        self.close(&mut out);
        out
    }

    fn end(&mut self, stop: Stop) -> String {
        let mut out = String::new();
        self.start(&mut out);
        self.close(&mut out);
        let mut response = self.response.clone();
        let (kind, status) = match stop {
            Stop::Length => ("response.incomplete", "incomplete"),
            _ => ("response.completed", "completed"),
        };
        response.insert("status".to_owned(), json!(status));
        let items: Vec<Value> = self.ended.values().cloned().collect();
        response.insert("output".to_owned(), Value::Array(items));
        out.push_str(&self.event(kind, json!({ "response": response })));
        out
    }
}

fn one(call: &ToolCall) -> Value {
    json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.tool,
        "arguments": call.arguments.as_str(),
    })
}

fn output(answer: &mut Value) -> Option<&mut Vec<Value>> {
    answer.get_mut("output")?.as_array_mut()
}

fn message(part: Value) -> Value {
    json!({
        "type": "message", "id": "msg_counterfoil_0", "status": "completed", "role": "assistant",
        "content": [part],
    })
}

/// Some servers omit the type of an item.
fn is_message(item: &Value) -> bool {
    kind_of(item) == "message" || item.get("type").is_none()
}

fn words(text: &str) -> Value {
    message(json!({ "type": "output_text", "text": text, "annotations": [] }))
}

pub(super) fn append(answer: &mut Value, text: &str) {
    let Some(output) = output(answer) else { return };
    let calls = output.iter().rev().take_while(|item| CALLS.contains(&kind_of(item))).count();
    output.insert(output.len().saturating_sub(calls), words(text));
}

pub(super) fn replace(answer: &mut Value, text: &str) {
    let Some(output) = output(answer) else { return };
    output.retain(|item| !is_message(item));
    append(answer, text);
}

pub(super) fn with_calls(answer: &mut Value, calls: &[ToolCall]) {
    let Some(output) = output(answer) else { return };
    let mut left: Vec<&ToolCall> = calls.iter().collect();
    // Each item stays once, unchanged if it is still valid.
    output.retain_mut(|item| {
        if !CALLS.contains(&kind_of(item)) {
            return true;
        }
        let is_function = kind_of(item) == "function_call";
        let name = if is_function { text_of(item, "name") } else { "" };
        let own = |call: &&ToolCall| {
            call.id == text_of(item, "call_id") && (!is_function || call.tool == name)
        };
        let Some(at) = left.iter().position(own) else { return false };
        let call = left.remove(at);
        if is_function && let Some(members) = item.as_object_mut() {
            members.insert("arguments".to_owned(), json!(call.arguments.as_str()));
        }
        true
    });
    output.extend(left.into_iter().map(one));
}

pub(super) fn refuse(answer: &mut Value, why: &str) {
    with_calls(answer, &[]);
    let Some(output) = output(answer) else { return };
    output.retain(|item| !is_message(item));
    output.push(message(json!({ "type": "refusal", "refusal": why })));
}
