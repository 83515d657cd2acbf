//! Anthropic's messages.

use counterfoil_model::ToolCall;
use counterfoil_providers::Stop;
use serde_json::{Map, Value, json};

use super::writer::{Writer, event, index_of, kind_of, text_of};

/// A stream of blocks, of which the client has got some.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The event that begins a message.
    start: Option<Value>,
    begun: bool,
    /// The index of the next block.
    next: usize,
    /// The index of the block that has not ended, and whether it is a text block.
    open: Option<(usize, bool)>,
    usage: Map<String, Value>,
    /// The server's own stop reason.
    ending: Option<Value>,
    refused: bool,
}

impl Blocks {
    fn begin(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        if let Some(start) = &self.start {
            out.push_str(&event("message_start", start));
        }
    }

    fn close(&mut self, out: &mut String) {
        if let Some((index, _)) = self.open.take() {
            let stop = json!({ "type": "content_block_stop", "index": index });
            out.push_str(&event("content_block_stop", &stop));
        }
    }

    fn block(&mut self, block: &Value, out: &mut String) -> usize {
        self.close(out);
        let index = self.next;
        self.next += 1;
        self.open = Some((index, kind_of(block) == "text"));
        let start =
            json!({ "type": "content_block_start", "index": index, "content_block": block });
        out.push_str(&event("content_block_start", &start));
        index
    }
}

fn delta(index: usize, delta: &Value) -> String {
    let delta = json!({ "type": "content_block_delta", "index": index, "delta": delta });
    event("content_block_delta", &delta)
}

impl Writer for Blocks {
    fn learn(&mut self, event: &Value) {
        match kind_of(event) {
            "message_start" => self.start = Some(event.clone()),
            "message_delta" => {
                let usage = event.get("usage").and_then(Value::as_object);
                self.ending = event.get("delta").cloned();
                self.usage.extend(usage.into_iter().flatten().map(|(n, v)| (n.clone(), v.clone())));
            }
            _ => {}
        }
    }

    fn given(&mut self, event: &Value) {
        let index = index_of(event, "index").unwrap_or(self.next);
        match kind_of(event) {
            "message_start" => self.begun = true,
            "content_block_start" => {
                let words = event.get("content_block").is_some_and(|b| kind_of(b) == "text");
                self.open = Some((index, words));
                self.next = index + 1;
            }
            "content_block_stop" => self.open = None,
            _ => {}
        }
    }

    fn closes(&self, event: &Value) -> bool {
        matches!(kind_of(event), "message_delta" | "message_stop")
    }

    fn is_call(&self, event: &Value) -> bool {
        event.get("content_block").is_some_and(|block| kind_of(block) == "tool_use")
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        self.begin(&mut out);
        let index = match self.open {
            Some((index, true)) => index,
            _ => self.block(&json!({ "type": "text", "text": "" }), &mut out),
        };
        out.push_str(&delta(index, &json!({ "type": "text_delta", "text": text })));
        out
    }

    fn calls(&mut self, calls: &[ToolCall], _: &[Value]) -> String {
        let mut out = String::new();
        self.begin(&mut out);
        for call in calls {
            let block =
                json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": {} });
            let index = self.block(&block, &mut out);
            let input = call.arguments.as_str();
            let input = json!({ "type": "input_json_delta", "partial_json": input });
            out.push_str(&delta(index, &input));
        }
        self.close(&mut out);
        out
    }

    fn refusal(&mut self, text: &str) -> String {
        self.refused = true;
        self.text(text)
    }

    fn end(&mut self, stop: Stop) -> String {
        let mut out = String::new();
        self.begin(&mut out);
        self.close(&mut out);
        let reason = if self.refused { "refusal" } else { reason(stop) };
        // There are more stop reasons than we distinguish.
        let others = ["pause_turn", "stop_sequence"];
        let own = self.ending.take().filter(|_| stop == Stop::End && !self.refused);
        let own = own.filter(|ending| others.contains(&text_of(ending, "stop_reason")));
        let delta = own.unwrap_or_else(|| json!({ "stop_reason": reason, "stop_sequence": null }));
        let ending = json!({
            "type": "message_delta",
            "delta": delta,
            "usage": self.usage.clone(),
        });
        out.push_str(&event("message_delta", &ending));
        out.push_str(&event("message_stop", &json!({ "type": "message_stop" })));
        out
    }
}

fn reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Refused => "refusal",
        _ => "end_turn",
    }
}

fn content(answer: &mut Value) -> Option<&mut Vec<Value>> {
    answer.get_mut("content")?.as_array_mut()
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub(super) fn append(answer: &mut Value, text: &str) {
    let Some(content) = content(answer) else { return };
    // Calls stay at the end.
    let calls = content.iter().rev().take_while(|block| kind_of(block) == "tool_use").count();
    content.insert(content.len().saturating_sub(calls), words(text));
}

pub(super) fn replace(answer: &mut Value, text: &str) {
    let Some(content) = content(answer) else { return };
    content.retain(|block| !["text", "output_text", ""].contains(&kind_of(block)));
    append(answer, text);
}

pub(super) fn with_calls(answer: &mut Value, calls: &[ToolCall]) {
    let Some(content) = content(answer) else { return };
    let own: Vec<Value> = content.extract_if(.., |block| kind_of(block) == "tool_use").collect();
    content.extend(calls.iter().filter_map(|call| {
        // Arguments that are not an object stay as they were received.
        let Some(input) = call.arguments.parse().ok().filter(Value::is_object) else {
            return own.iter().find(|block| text_of(block, "id") == call.id).cloned();
        };
        Some(json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": input }))
    }));
    if calls.is_empty()
        && let Some(members) = answer.as_object_mut()
    {
        members.insert("stop_reason".to_owned(), json!("end_turn"));
    }
}

pub(super) fn refuse(answer: &mut Value, why: &str) {
    with_calls(answer, &[]);
    replace(answer, why);
    if let Some(members) = answer.as_object_mut() {
        members.insert("stop_reason".to_owned(), json!("refusal"));
    }
}
