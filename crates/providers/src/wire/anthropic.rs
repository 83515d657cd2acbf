//! The Anthropic messages API.

use std::collections::BTreeMap;

use counterfoil_model::{Tool, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Assembler, ModelRequest, WireError, error_message, read, schema};
use crate::chat::{Piece, Reply, Stop, Turn, Usage};

/// The member that collects the input of a server-side tool call until it is complete.
const INPUT: &str = "partial_json";

/// Default maximum of output tokens, which this API requires.
const MAX_TOKENS: u32 = 8192;

pub(super) fn body(model_request: ModelRequest<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model_request.model));
    let max_tokens =
        if model_request.max_tokens > 0 { model_request.max_tokens } else { MAX_TOKENS };
    body.insert("max_tokens".to_owned(), json!(max_tokens));
    let kept = json!({ "type": "ephemeral" });
    if !model_request.request.system.is_empty() {
        let block =
            json!({ "type": "text", "text": model_request.request.system, "cache_control": kept });
        body.insert("system".to_owned(), json!([block]));
    }
    if !model_request.request.tools.is_empty() {
        body.insert("tools".to_owned(), model_request.request.tools.iter().map(tool).collect());
    }
    body.insert("messages".to_owned(), Value::Array(messages(&model_request.request.turns)));
    body.insert("stream".to_owned(), json!(true));
    Value::Object(body)
}

/// Converts turns to messages. The API requires alternating roles, so consecutive turns of one side
/// are merged.
pub(super) fn messages(turns: &[Turn]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn {
            Turn::User(text) => ("user", vec![json!({ "type": "text", "text": text })]),
            Turn::Assistant { text, calls, kept } => ("assistant", assistant(text, calls, kept)),
            Turn::Result { call_id, text, failed } => {
                let mut block = json!({ "type": "tool_result", "tool_use_id": call_id });
                if let Some(members) = block.as_object_mut() {
                    members.insert("content".to_owned(), json!(text));
                    if *failed {
                        members.insert("is_error".to_owned(), json!(true));
                    }
                }
                ("user", vec![block])
            }
        };
        match messages.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => messages.push((role, blocks)),
        }
    }
    messages
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

fn assistant(text: &str, calls: &[ToolCall], kept: &[Value]) -> Vec<Value> {
    let mut blocks = kept.to_vec();
    // This API does not accept blank texts.
    if !text.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": text }));
    }
    blocks.extend(calls.iter().map(|call| {
        let input = call.arguments.parse().ok().filter(Value::is_object);
        // Arguments that could not be parsed were rejected, and the result says so.
        let input = input.unwrap_or_else(|| json!({}));
        json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": input })
    }));
    blocks
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": schema(tool.parameters.as_ref()),
    })
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[serde(expecting = "an event with a `type`")]
enum StreamEvent {
    MessageStart {
        message: Begun,
    },
    ContentBlockStart {
        index: usize,
        content_block: Map<String, Value>,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: Ending,
        #[serde(default)]
        usage: Tokens,
    },
    MessageStop,
    Error {
        error: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Begun {
    model: Option<String>,
    usage: Tokens,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ending {
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Other,
}

/// A message received so far.
#[derive(Debug, Default)]
pub(super) struct Message {
    blocks: BTreeMap<usize, Block>,
    stop: Option<String>,
    usage: Usage,
    model: Option<String>,
    ended: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        /// The input sent with the beginning of the block, used if no more follows.
        input: String,
        arguments: String,
    },
    /// A reasoning block, to be sent back unchanged.
    Kept(Map<String, Value>),
}

impl Message {
    fn begin(&mut self, index: usize, block: Map<String, Value>, on: &mut dyn FnMut(Piece)) {
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
        let block = match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = text("text");
                if !text.is_empty() {
                    on(Piece::Text(text.clone()));
                }
                Block::Text(text)
            }
            Some("tool_use") => {
                let name = text("name");
                on(Piece::Call(name.clone()));
                let input = block.get("input").map_or_else(|| "{}".to_owned(), Value::to_string);
                Block::Call { id: text("id"), name, input, arguments: String::new() }
            }
            _ => Block::Kept(block),
        };
        self.blocks.insert(index, block);
    }

    fn more(&mut self, index: usize, delta: Delta, on: &mut dyn FnMut(Piece)) {
        match (self.blocks.get_mut(&index), delta) {
            (Some(Block::Text(known)), Delta::Text { text }) => {
                known.push_str(&text);
                on(Piece::Text(text));
            }
            (Some(Block::Call { arguments, .. }), Delta::Input { partial_json }) => {
                arguments.push_str(&partial_json);
            }
            // A server-side tool call.
            (Some(Block::Kept(members)), Delta::Input { partial_json }) => {
                grow(members, INPUT, &partial_json);
            }
            (Some(Block::Kept(members)), Delta::Thinking { thinking }) => {
                grow(members, "thinking", &thinking);
                on(Piece::Thought(thinking));
            }
            (Some(Block::Kept(members)), Delta::Signature { signature }) => {
                grow(members, "signature", &signature);
            }
            _ => {}
        }
    }

    fn reply(self) -> Result<Reply, WireError> {
        if !self.ended {
            return Err(WireError::BrokenOff);
        }
        let mut reply = Reply {
            stop: stop(self.stop.as_deref()),
            usage: self.usage,
            model: self.model,
            ..Reply::default()
        };
        for block in self.blocks.into_values() {
            match block {
                Block::Text(text) => reply.text.push_str(&text),
                Block::Call { id, name, input, arguments } => {
                    reply.calls.push(call(&id, &name, &input, &arguments));
                }
                Block::Kept(mut members) => {
                    let input = members.remove(INPUT);
                    let input = input.as_ref().and_then(Value::as_str);
                    if let Some(input) = input.and_then(|input| serde_json::from_str(input).ok()) {
                        members.insert("input".to_owned(), input);
                    }
                    reply.kept.push(Value::Object(members));
                }
            }
        }
        Ok(reply)
    }
}

fn call(id: &str, name: &str, input: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, if arguments.is_empty() { input } else { arguments })
}

fn grow(members: &mut Map<String, Value>, name: &str, more: &str) {
    let known = members.get(name).and_then(Value::as_str).unwrap_or_default();
    let grown = format!("{known}{more}");
    members.insert(name.to_owned(), Value::from(grown));
}

fn stop(reason: Option<&str>) -> Stop {
    match reason {
        Some("tool_use") => Stop::Calls,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("refusal") => Stop::Refused,
        _ => Stop::End,
    }
}

impl Assembler for Message {
    fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError> {
        match read(data)? {
            StreamEvent::MessageStart { message } => {
                self.model = message.model;
                self.usage.input = message.usage.input_tokens;
                self.usage.cached = message.usage.cache_read_input_tokens;
            }
            StreamEvent::ContentBlockStart { index, content_block } => {
                self.begin(index, content_block, on);
            }
            StreamEvent::ContentBlockDelta { index, delta } => self.more(index, delta, on),
            StreamEvent::ContentBlockStop { index } => {
                if let Some(Block::Call { id, name, input, arguments }) = self.blocks.get(&index) {
                    on(Piece::Whole(call(id, name, input, arguments)));
                }
            }
            StreamEvent::MessageDelta { delta, usage } => {
                self.stop = delta.stop_reason.or(self.stop.take());
                self.usage.output = usage.output_tokens;
            }
            StreamEvent::MessageStop => self.ended = true,
            StreamEvent::Error { error } => return Err(WireError::Reported(error_message(&error))),
            StreamEvent::Other => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, WireError> {
        self.reply()
    }
}

#[derive(Debug, Deserialize)]
struct Whole {
    #[serde(default)]
    model: Option<String>,
    content: Vec<Box<RawValue>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Tokens,
}

#[derive(Debug, Deserialize)]
struct Input {
    input: Box<RawValue>,
}

pub(super) fn whole(text: &str) -> Result<Reply, WireError> {
    let whole: Whole = read(text)?;
    let mut message = Message { stop: whole.stop_reason, ended: true, ..Message::default() };
    message.model = whole.model;
    message.usage = Usage {
        input: whole.usage.input_tokens,
        output: whole.usage.output_tokens,
        cached: whole.usage.cache_read_input_tokens,
    };
    for (index, raw) in whole.content.iter().enumerate() {
        message.begin(index, read(raw.get())?, &mut |_| {});
        // The arguments exactly as written.
        if let Some(Block::Call { arguments, .. }) = message.blocks.get_mut(&index) {
            let input: Input = read(raw.get())?;
            *arguments = input.input.get().to_owned();
        }
    }
    message.reply()
}
