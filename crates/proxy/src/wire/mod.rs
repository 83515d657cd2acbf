//! The formats between an agent and its model, one file per wire.

mod chat;
mod messages;
mod responses;
mod writer;

use counterfoil_model::{Format, ToolCall};
use counterfoil_providers::{Kind, Reply, Turn, written};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(crate) use responses::CALLS;
pub(crate) use writer::Writer;
use writer::{event, kind_of, text_of};

/// A wire whose answers are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses API.
    Responses,
    /// Anthropic's messages.
    Messages,
}

impl Wire {
    /// The wire that a path belongs to.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        // Some servers decode escapes.
        let path = percent_decode_str(path).decode_utf8_lossy();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        // Messages are added to a thread there, without an answer.
        let threads = parts.contains(&"threads");
        match parts.as_slice() {
            [.., "chat", "completions"] => Some(Self::Chat),
            [.., "responses"] => Some(Self::Responses),
            [.., "messages"] if !threads => Some(Self::Messages),
            _ => None,
        }
    }

    /// Whether an item of an answer is a call that the client is to make.
    pub(crate) fn is_of_client(self, item: &Value) -> bool {
        self == Self::Responses && responses::CALLS.contains(&kind_of(item))
    }

    /// Whether an item of an answer is about a tool that the server itself runs and that the
    /// request contains.
    pub(crate) fn is_of_server(self, item: &Value, request: &[u8]) -> bool {
        let kind = kind_of(item);
        if self.is_of_client(item) || kind.ends_with("_call_output") || kind == "tool_result" {
            return false;
        }
        // `web_search_call` belongs to `web_search`, `mcp_tool_use` to `mcp_toolset`.
        let named = text_of(item, "name");
        let stem = kind.split("_call").next().unwrap_or_default();
        let stem = stem.split("_tool").next().unwrap_or_default();
        let body = String::from_utf8_lossy(request);
        [stem, named].iter().any(|word| !word.is_empty() && body.contains(&format!("\"{word}")))
            || !kind.contains("_call") && !kind.contains("_tool")
    }

    /// The name that records use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Chat => Kind::OpenAi,
            Self::Responses => Kind::Responses,
            Self::Messages => Kind::Anthropic,
        }
    }

    /// The log format of its requests.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Chat => Format::OpenaiChat,
            Self::Responses => Format::OpenaiResponses,
            Self::Messages => Format::Anthropic,
        }
    }

    pub(crate) fn writer(self) -> Box<dyn Writer> {
        match self {
            Self::Chat => Box::new(chat::Chunks::default()),
            Self::Responses => Box::new(responses::Items::default()),
            Self::Messages => Box::new(messages::Blocks::default()),
        }
    }

    /// The member of a request that holds the conversation.
    fn conversation(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "messages",
            Self::Responses => "input",
        }
    }

    /// Appends entries to the conversation of a request.
    pub(crate) fn extend(self, request: &mut Map<String, Value>, turns: &[Turn]) {
        let conversation = request.entry(self.conversation()).or_insert_with(|| json!([]));
        if let Value::String(text) = conversation {
            *conversation = json!([{ "role": "user", "content": text }]);
        }
        if let Value::Array(entries) = conversation {
            entries.extend(written(self.kind(), turns));
        }
    }

    /// The result, for the model, of a call of any kind that was not made.
    pub(crate) fn result(
        self,
        request: &mut Map<String, Value>,
        reply: &Reply,
        call: &ToolCall,
        text: &str,
    ) {
        if reply.calls.iter().any(|own| own.id == call.id) {
            let (call_id, text) = (call.id.clone(), text.to_owned());
            return self.extend(request, &[Turn::Result { call_id, text, failed: true }]);
        }
        let kind = reply.kept.iter().find(|item| text_of(item, "call_id") == call.id).map(kind_of);
        let entry = json!({
            "type": format!("{}_output", kind.unwrap_or("function_call")),
            "call_id": call.id,
            "output": text,
        });
        if let Some(Value::Array(entries)) = request.get_mut(self.conversation()) {
            entries.push(entry);
        }
    }

    /// An error in the format of this wire.
    pub(crate) fn error(wire: Option<Self>, status: u16, message: &str) -> String {
        let kind = match status {
            401 | 403 => "authentication_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        let error = match wire {
            Some(Self::Messages) => {
                json!({ "type": "error", "error": { "type": kind, "message": message } })
            }
            _ => json!({ "error": {
                "message": message, "type": kind, "param": null, "code": "counterfoil",
            } }),
        };
        error.to_string()
    }

    /// An error as an event of a stream.
    pub(crate) fn error_event(self, message: &str) -> String {
        match self {
            Self::Chat => format!("data: {}\n\n", Self::error(Some(self), 500, message)),
            Self::Messages => event(
                "error",
                &serde_json::from_str(&Self::error(Some(self), 500, message)).unwrap_or_default(),
            ),
            Self::Responses => event(
                "error",
                &json!({ "type": "error", "code": "counterfoil", "message": message, "param": null }),
            ),
        }
    }

    /// Appends words to a complete answer.
    pub(crate) fn append(self, answer: &mut Value, words: &str) {
        match self {
            Self::Chat => chat::append(answer, words),
            Self::Responses => responses::append(answer, words),
            Self::Messages => messages::append(answer, words),
        }
    }

    /// Replaces the words of a complete answer.
    pub(crate) fn replace(self, answer: &mut Value, words: &str) {
        match self {
            Self::Chat => chat::replace(answer, words),
            Self::Responses => responses::replace(answer, words),
            Self::Messages => messages::replace(answer, words),
        }
    }

    /// Reduces a complete answer to these calls.
    pub(crate) fn with_calls(self, answer: &mut Value, calls: &[ToolCall]) {
        match self {
            Self::Chat => chat::with_calls(answer, calls),
            Self::Responses => responses::with_calls(answer, calls),
            Self::Messages => messages::with_calls(answer, calls),
        }
    }

    /// Turns a complete answer into a refusal.
    pub(crate) fn refuse(self, answer: &mut Value, why: &str) {
        match self {
            Self::Chat => chat::refuse(answer, why),
            Self::Responses => responses::refuse(answer, why),
            Self::Messages => messages::refuse(answer, why),
        }
    }
}
