//! What goes over the wire, one file a wire.

mod anthropic;
mod completions;
mod responses;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::chat::{Piece, Reply, Request, Turn};
use crate::options::Kind;

/// What was said about a model, and how it is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a str,
    pub(crate) max_tokens: u32,
    pub(crate) request: &'a Request,
}

/// Puts an answer together from what comes.
pub(crate) trait Assembler: Send + Sync {
    /// Takes one event.
    fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError>;

    /// The answer, once everything came.
    fn finish(self: Box<Self>) -> Result<Reply, WireError>;
}

/// What a server sent is not an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// It cannot be read.
    #[error("what it sent cannot be read: {0}")]
    Unreadable(String),
    /// It ended before it said that it does.
    #[error("its answer broke off")]
    BrokenOff,
    /// It says that something went wrong.
    #[error("it says: {0}")]
    Told(String),
}

pub(crate) fn body(kind: Kind, asked: Asked<'_>) -> Value {
    match kind {
        Kind::OpenAi | Kind::Ollama => completions::body(asked),
        Kind::Responses => responses::body(asked),
        Kind::Anthropic => anthropic::body(asked),
    }
}

/// An answer that comes event by event, for whoever reads along.
pub struct Assembly(Box<dyn Assembler>);

impl Assembly {
    /// Of an answer on this wire.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self(assembler(kind))
    }

    /// Takes the data of one event, and tells what came with it.
    ///
    /// # Errors
    /// When it cannot be read, or says that something went wrong.
    pub fn take(&mut self, data: &str, on: &mut dyn FnMut(Piece)) -> Result<(), WireError> {
        self.0.take(data, on)
    }

    /// The answer, once everything came.
    ///
    /// # Errors
    /// When it broke off.
    pub fn finish(self) -> Result<Reply, WireError> {
        self.0.finish()
    }
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembly").finish_non_exhaustive()
    }
}

/// Entries of a conversation as a request on this wire has them.
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

/// An answer that came in one piece.
///
/// # Errors
/// When it is none, or says that something went wrong.
pub fn whole(kind: Kind, text: &str) -> Result<Reply, WireError> {
    match kind {
        Kind::OpenAi | Kind::Ollama => completions::whole(text),
        Kind::Responses => responses::whole(text),
        Kind::Anthropic => anthropic::whole(text),
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, WireError> {
    serde_json::from_str(text).map_err(|error| WireError::Unreadable(error.to_string()))
}

/// What stands in `error`, in the forms in which servers say it.
pub(crate) fn told(error: &Value) -> String {
    let message = error.get("message").or_else(|| error.pointer("/error/message"));
    let message = message.and_then(Value::as_str).or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

/// A schema of arguments; an object without members where none is known.
fn schema(parameters: Option<&Value>) -> Value {
    parameters.cloned().unwrap_or_else(|| json!({ "type": "object", "properties": {} }))
}
