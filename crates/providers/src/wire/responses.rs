//! OpenAI's responses API.

use std::collections::BTreeMap;

use counterfoil_model::{Tool, ToolCall};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Assembler, ModelRequest, WireError, error_message, read, schema};
use crate::chat::{Piece, Reply, Stop, Turn, Usage};

pub(super) fn body(model_request: ModelRequest<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model_request.model));
    if !model_request.request.system.is_empty() {
        body.insert("instructions".to_owned(), json!(model_request.request.system));
    }
    let items: Vec<Value> = model_request.request.turns.iter().flat_map(items).collect();
    body.insert("input".to_owned(), Value::Array(items));
    if !model_request.request.tools.is_empty() {
        body.insert("tools".to_owned(), model_request.request.tools.iter().map(tool).collect());
    }
    if model_request.max_tokens > 0 {
        body.insert("max_output_tokens".to_owned(), json!(model_request.max_tokens));
    }
    // The server stores nothing; encrypted reasoning is sent back with each request.
    body.insert("store".to_owned(), json!(false));
    body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    body.insert("stream".to_owned(), json!(true));
    Value::Object(body)
}

pub(super) fn items(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::User(text) => vec![json!({ "role": "user", "content": text })],
        Turn::Assistant { text, calls, kept } => {
            let mut items = kept.clone();
            if !text.is_empty() {
                items.push(json!({ "role": "assistant", "content": text }));
            }
            items.extend(calls.iter().map(|call| {
                json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.tool,
                    "arguments": call.arguments.as_str(),
                })
            }));
            items
        }
        Turn::Result { call_id, text, .. } => {
            vec![json!({ "type": "function_call_output", "call_id": call_id, "output": text })]
        }
    }
}

fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": schema(tool.parameters.as_ref()),
        "strict": false,
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    delta: Option<String>,
    output_index: Option<usize>,
    item: Option<Item>,
    response: Option<Value>,
    message: Option<String>,
    error: Option<Value>,
}

type Item = Map<String, Value>;

/// A response received so far.
#[derive(Debug, Default)]
pub(super) struct Response {
    items: BTreeMap<usize, Item>,
    end: Option<Value>,
}

fn text<'i>(item: &'i Item, name: &str) -> &'i str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn words(item: &Item) -> String {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    let words = parts.filter_map(|part| part.get("text").or_else(|| part.get("refusal")));
    words.filter_map(Value::as_str).collect()
}

impl Assembler for Response {
    fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError> {
        let event: Event = read(data)?;
        match event.kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                on(Piece::Text(event.delta.unwrap_or_default()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                on(Piece::Thought(event.delta.unwrap_or_default()));
            }
            "response.output_item.added" => {
                let item = event.item.unwrap_or_default();
                if text(&item, "type") == "function_call" {
                    on(Piece::Call(text(&item, "name").to_owned()));
                }
            }
            "response.output_item.done" => {
                let at = event.output_index.unwrap_or(self.items.len());
                let item = event.item.unwrap_or_default();
                if text(&item, "type") == "function_call" {
                    on(Piece::Whole(call(&item)));
                }
                self.items.insert(at, item);
            }
            "response.completed" | "response.incomplete" => {
                self.end = Some(event.response.unwrap_or_default());
            }
            "response.failed" => {
                let response = event.response.unwrap_or_default();
                let error = response.get("error").cloned().unwrap_or_default();
                return Err(WireError::Reported(error_message(&error)));
            }
            "error" => {
                let error = event.error.unwrap_or_else(|| json!(event.message));
                return Err(WireError::Reported(error_message(&error)));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, WireError> {
        let end = self.end.ok_or(WireError::BrokenOff)?;
        Ok(reply(self.items.into_values(), &end))
    }
}

fn call(item: &Item) -> ToolCall {
    let arguments = match text(item, "arguments") {
        "" => "{}",
        arguments => arguments,
    };
    ToolCall::new(text(item, "call_id"), text(item, "name"), arguments)
}

fn reply(items: impl Iterator<Item = Item>, end: &Value) -> Reply {
    let number = |path: &str| end.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let mut reply = Reply {
        model: end.get("model").and_then(Value::as_str).map(str::to_owned),
        usage: Usage {
            input: number("/usage/input_tokens"),
            output: number("/usage/output_tokens"),
            cached: number("/usage/input_tokens_details/cached_tokens"),
        },
        ..Reply::default()
    };
    for mut item in items {
        match text(&item, "type") {
            "message" => reply.text.push_str(&words(&item)),
            "function_call" => reply.calls.push(call(&item)),
            "reasoning" => {
                // The item is not stored on the server, so its id means nothing there.
                item.remove("id");
                reply.kept.push(Value::Object(item));
            }
            // Server-side actions, and calls of other kinds.
            _ => reply.kept.push(Value::Object(item)),
        }
    }
    reply.stop = match end.pointer("/incomplete_details/reason").and_then(Value::as_str) {
        Some("content_filter") => Stop::Refused,
        Some(_) => Stop::Length,
        None if reply.calls.is_empty() => Stop::End,
        None => Stop::Calls,
    };
    reply
}

pub(super) fn whole(text: &str) -> Result<Reply, WireError> {
    let end: Value = read(text)?;
    if let Some(error) = end.get("error").filter(|error| !error.is_null()) {
        return Err(WireError::Reported(error_message(error)));
    }
    let Some(output) = end.get("output").and_then(Value::as_array) else {
        return Err(WireError::Unreadable("`output` is missing".to_owned()));
    };
    let items = output.iter().filter_map(Value::as_object).cloned();
    Ok(reply(items, &end))
}
