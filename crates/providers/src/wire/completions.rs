//! The chat completions API.

use counterfoil_model::{Tool, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Assembler, ModelRequest, WireError, error_message, read, schema};
use crate::chat::{Piece, Reply, Stop, Turn, Usage};

pub(super) fn body(model_request: ModelRequest<'_>) -> Value {
    let mut messages = Vec::with_capacity(model_request.request.turns.len() + 1);
    if !model_request.request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": model_request.request.system }));
    }
    messages.extend(model_request.request.turns.iter().map(message));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model_request.model));
    body.insert("messages".to_owned(), Value::Array(messages));
    if !model_request.request.tools.is_empty() {
        body.insert("tools".to_owned(), model_request.request.tools.iter().map(tool).collect());
    }
    if model_request.max_tokens > 0 {
        body.insert("max_tokens".to_owned(), json!(model_request.max_tokens));
    }
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    Value::Object(body)
}

pub(super) fn message(turn: &Turn) -> Value {
    match turn {
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Assistant { text, calls, .. } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Turn::Assistant { text, calls, .. } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Turn::Result { call_id, text, .. } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": text })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.tool, "arguments": call.arguments.as_str() });
    json!({ "id": call.id, "type": "function", "function": function })
}

fn tool(tool: &Tool) -> Value {
    let function = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": schema(tool.parameters.as_ref()),
    });
    json!({ "type": "function", "function": function })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    index: u32,
    delta: Option<ResponseMessage>,
    message: Option<ResponseMessage>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[serde(expecting = "a message")]
struct ResponseMessage {
    content: Option<Content>,
    refusal: Option<String>,
    audio: Option<Audio>,
    /// Servers use either name for reasoning, and some use both.
    reasoning: Option<String>,
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
    /// The single call of an older version of the API, without an id.
    function_call: Option<FunctionPart>,
}

/// Spoken output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Audio {
    transcript: Option<String>,
}

/// The content is a string, or for some servers a list of parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

impl Content {
    fn text(self) -> String {
        let parts = match self {
            Self::Text(text) => return text,
            Self::Parts(parts) => parts,
        };
        let words = parts.iter().filter(|part| part.get("type").is_some_and(|kind| kind == "text"));
        words.filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallPart {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionPart>,
    /// A call whose argument is plain text.
    custom: Option<CustomPart>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CustomPart {
    name: Option<String>,
    input: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionPart {
    name: Option<String>,
    arguments: Option<Written>,
}

/// Arguments are a string. Some servers send an object instead, which is kept as written.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Box<RawValue>")]
struct Written(String);

impl TryFrom<Box<RawValue>> for Written {
    type Error = serde_json::Error;

    fn try_from(raw: Box<RawValue>) -> Result<Self, Self::Error> {
        if raw.get().starts_with('{') {
            return Ok(Self(raw.get().to_owned()));
        }
        serde_json::from_str(raw.get()).map(Self)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Cached>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cached {
    cached_tokens: Option<u64>,
}

/// A response received so far.
#[derive(Debug, Default)]
pub(super) struct Completion {
    text: String,
    calls: Vec<Growing>,
    stop: Option<Stop>,
    usage: Usage,
    model: Option<String>,
    done: bool,
}

#[derive(Debug, Default)]
struct Growing {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
    /// Whether its argument is plain text.
    plain: bool,
    /// Whether it was reported as complete.
    reported: bool,
}

impl Growing {
    /// Whether the arguments are a complete object, so that nothing can follow. Long arguments are
    /// not checked, to avoid parsing them for every chunk.
    fn is_whole(&self) -> bool {
        const LONGEST: usize = 16 * 1024;
        let ends = self.arguments.len() <= LONGEST && self.arguments.trim_end().ends_with('}');
        ends && serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }
}

impl Completion {
    fn message(&mut self, message: ResponseMessage, on: &mut dyn FnMut(Piece)) {
        let thoughts = message.reasoning.or(message.reasoning_content);
        if let Some(thought) = thoughts.filter(|text| !text.is_empty()) {
            on(Piece::Thought(thought));
        }
        let spoken = message.audio.and_then(|audio| audio.transcript);
        for text in
            [message.content.map(Content::text), message.refusal, spoken].into_iter().flatten()
        {
            if !text.is_empty() {
                self.text.push_str(&text);
                on(Piece::Text(text));
            }
        }
        for part in message.tool_calls.into_iter().flatten() {
            self.part(part, on);
        }
        if let Some(function) = message.function_call {
            self.part(CallPart { function: Some(function), ..CallPart::default() }, on);
        }
    }

    /// Adds a chunk to a call. Chunks of one call share an index; servers without indexes begin a
    /// call with its id.
    fn part(&mut self, part: CallPart, on: &mut dyn FnMut(Piece)) {
        let id = part.id.unwrap_or_default();
        let known = match part.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| call.id == id),
        };
        // A different id under the same index is another call.
        let other = |call: &Growing| !id.is_empty() && !call.id.is_empty() && call.id != id;
        let known = known.filter(|at| self.calls.get(*at).is_some_and(|call| !other(call)));
        let at = known.unwrap_or_else(|| {
            self.calls.push(Growing { index: part.index, ..Growing::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return };
        if !id.is_empty() {
            call.id = id;
        }
        if let Some(custom) = part.custom {
            call.plain = true;
            if let Some(name) = custom.name.filter(|_| call.name.is_empty()) {
                on(Piece::Call(name.clone()));
                call.name = name;
            }
            call.arguments.push_str(&custom.input.unwrap_or_default());
        }
        let Some(function) = part.function else { return };
        if let Some(name) = function.name.filter(|name| !name.is_empty()) {
            if call.name.is_empty() {
                on(Piece::Call(name.clone()));
                call.name = name;
            } else if call.name != name {
                call.name.push_str(&name);
            }
        }
        call.arguments.push_str(&function.arguments.map(|written| written.0).unwrap_or_default());
        if !call.reported && call.is_whole() {
            call.reported = true;
            let (id, name) = (call.id.clone(), call.name.clone());
            on(Piece::Whole(ToolCall::new(id, name, call.arguments.clone())));
        }
    }

    fn chunk(&mut self, chunk: Chunk, on: &mut dyn FnMut(Piece)) -> Result<(), WireError> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(WireError::Reported(error_message(&error)));
        }
        self.model = chunk.model.or(self.model.take());
        if let Some(tokens) = chunk.usage {
            self.usage = Usage {
                input: tokens.prompt_tokens.unwrap_or_default(),
                output: tokens.completion_tokens.unwrap_or_default(),
                cached: tokens
                    .prompt_tokens_details
                    .unwrap_or_default()
                    .cached_tokens
                    .unwrap_or_default(),
            };
        }
        // We request one choice; any other is ignored.
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            for message in [choice.delta, choice.message].into_iter().flatten() {
                self.message(message, on);
            }
            self.stop = choice.finish_reason.as_deref().map(stop).or(self.stop);
        }
        Ok(())
    }

    fn reply(self) -> Result<Reply, WireError> {
        let Some(stop) = self.stop.or(self.done.then_some(Stop::End)) else {
            return Err(WireError::BrokenOff);
        };
        let call = |call: Growing| {
            let arguments = match call.arguments {
                text if call.plain => json!({ "input": text }).to_string(),
                text if text.is_empty() => "{}".to_owned(),
                text => text,
            };
            ToolCall::new(call.id, call.name, arguments)
        };
        Ok(Reply {
            text: self.text,
            calls: self.calls.into_iter().map(call).collect(),
            kept: Vec::new(),
            stop,
            usage: self.usage,
            model: self.model,
        })
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_calls" | "function_call" => Stop::Calls,
        "length" => Stop::Length,
        "content_filter" => Stop::Refused,
        _ => Stop::End,
    }
}

impl Assembler for Completion {
    fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        self.chunk(read(data)?, on)
    }

    fn finish(self: Box<Self>) -> Result<Reply, WireError> {
        self.reply()
    }
}

pub(super) fn whole(text: &str) -> Result<Reply, WireError> {
    let mut answer = Completion::default();
    let mut chunk: Chunk = read(text)?;
    // In a complete response each entry is a whole call, whatever its id.
    for message in chunk.choices.iter_mut().flatten().filter_map(|choice| choice.message.as_mut()) {
        for (at, part) in message.tool_calls.iter_mut().flatten().enumerate() {
            part.index = Some(at);
        }
    }
    if chunk.choices.as_ref().is_none_or(Vec::is_empty) && chunk.error.is_none() {
        return Err(WireError::Unreadable("`choices` is missing".to_owned()));
    }
    answer.chunk(chunk, &mut |_| {})?;
    answer.done = true;
    answer.reply()
}
