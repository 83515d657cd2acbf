use std::ops::AddAssign;

use counterfoil_model::{Tool, ToolCall};
use serde::Serialize;
use serde_json::Value;

/// A request to a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The system prompt; may be empty.
    pub system: String,
    /// The conversation, newest entry last.
    pub turns: Vec<Turn>,
    /// The tools it may call.
    pub tools: Vec<Tool>,
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// A message from the user.
    User(String),
    /// A message from the model, with its tool calls.
    Assistant {
        /// The text; may be empty.
        text: String,
        /// The calls, in order.
        calls: Vec<ToolCall>,
        /// Signed reasoning blocks that the API wants back unchanged. Never shown.
        kept: Vec<Value>,
    },
    /// The result of one call.
    Result {
        /// The call id assigned by the model.
        call_id: String,
        /// The text the model will read.
        text: String,
        /// Whether the call failed.
        failed: bool,
    },
}

/// A model's response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The calls in order, with the text of their arguments as written.
    pub calls: Vec<ToolCall>,
    /// Reasoning blocks in the API's own format, to be sent back with the next request.
    pub kept: Vec<Value>,
    /// Why it ended.
    pub stop: Stop,
    /// The tokens it used.
    pub usage: Usage,
    /// The model, as the server names it.
    pub model: Option<String>,
}

impl Reply {
    /// The reply as an entry of the conversation.
    #[must_use]
    pub fn turn(&self) -> Turn {
        Turn::Assistant {
            text: self.text.clone(),
            calls: self.calls.clone(),
            kept: self.kept.clone(),
        }
    }
}

/// Why a response ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The model was finished.
    #[default]
    End,
    /// The model is waiting for the results of its calls.
    Calls,
    /// The token limit was reached; the last call may be cut off.
    Length,
    /// The server withheld the response.
    Refused,
}

/// Token counts, as reported by the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that were read from the server's cache.
    pub cached: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
    }
}

/// An update that arrives while a response is still in progress.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Text.
    Text(String),
    /// Reasoning.
    Thought(String),
    /// A call of this tool begins.
    Call(String),
    /// A call is complete and will not change any more.
    Whole(ToolCall),
    /// The request will be retried after a pause, so all earlier pieces are void.
    Again {
        /// The pause in milliseconds.
        after: u64,
        /// The reason.
        why: String,
    },
}
