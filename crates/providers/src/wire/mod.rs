//! Request and response formats, one file per API.

mod anthropic;
mod completions;
mod responses;

use std::fmt;

use counterfoil_model::WrongJson;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::chat::{Piece, Reply, Request, Turn};
use crate::options::Kind;

/// A request, and the settings of the model it is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) max_tokens: u32,
    pub(crate) request: &'a Request,
}

/// Assembles a response from its events.
pub(crate) trait Assembler: Send + Sync {
    /// Processes one event.
    fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError>;

    /// The response, once all events have arrived.
    fn finish(self: Box<Self>) -> Result<Reply, WireError>;
}

/// Why a response is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// It cannot be parsed.
    #[error("the response cannot be parsed: {0}")]
    Unreadable(String),
    /// It ended prematurely.
    #[error("the response broke off")]
    BrokenOff,
    /// The server reported an error.
    #[error("the server reported: {0}")]
    Reported(String),
}

pub(crate) fn body(kind: Kind, model_request: ModelRequest<'_>) -> Value {
    match kind {
        Kind::OpenAi | Kind::Ollama => completions::body(model_request),
        Kind::Responses => responses::body(model_request),
        Kind::Anthropic => anthropic::body(model_request),
    }
}

/// Assembles a streamed response, for callers that read along.
pub struct Assembly(Box<dyn Assembler>);

impl Assembly {
    /// An assembly for a response of this API.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self(assembler(kind))
    }

    /// Processes the data of one event, and passes its pieces to `on`.
    ///
    /// # Errors
    /// When the event cannot be parsed, or reports an error.
    pub fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError> {
        self.0.take(data, on)
    }

    /// The response, once all events have arrived.
    ///
    /// # Errors
    /// When the stream ended prematurely.
    pub fn finish(self) -> Result<Reply, WireError> {
        self.0.finish()
    }
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembly").finish_non_exhaustive()
    }
}

/// Converts turns to the messages of a request.
#[must_use]
pub fn written(kind: Kind, turns: &[Turn]) -> Vec<Value> {
    match kind {
        Kind::OpenAi | Kind::Ollama => turns.iter().map(completions::message).collect(),
        Kind::Responses => turns.iter().flat_map(responses::items).collect(),
        Kind::Anthropic => anthropic::messages(turns),
    }
}

pub(crate) fn assembler(kind: Kind) -> Box<dyn Assembler> {
    match kind {
        Kind::OpenAi | Kind::Ollama => Box::new(completions::Completion::default()),
        Kind::Responses => Box::new(responses::Response::default()),
        Kind::Anthropic => Box::new(anthropic::Message::default()),
    }
}

/// Parses a response that was not streamed.
///
/// # Errors
/// When it is not a valid response, or reports an error.
pub fn whole(kind: Kind, text: &str) -> Result<Reply, WireError> {
    match kind {
        Kind::OpenAi | Kind::Ollama => completions::whole(text),
        Kind::Responses => responses::whole(text),
        Kind::Anthropic => anthropic::whole(text),
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, WireError> {
    let unreadable = |error| WireError::Unreadable(WrongJson::new(&error).to_string());
    serde_json::from_str(text).map_err(unreadable)
}

/// The message in an `error` member, in any of the shapes servers use.
pub(crate) fn error_message(error: &Value) -> String {
    let message = error.get("message").or_else(|| error.pointer("/error/message"));
    let message = message.and_then(Value::as_str).or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

/// The schema of the arguments; an object without properties if none is declared.
fn schema(parameters: Option<&Value>) -> Value {
    parameters.cloned().unwrap_or_else(|| json!({ "type": "object", "properties": {} }))
}
