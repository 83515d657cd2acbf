use std::ops::AddAssign;

use counterfoil_model::{Tool, ToolCall};
use serde::Serialize;
use serde_json::Value;

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// What it is told first; may be empty.
    pub system: String,
    /// The conversation, the newest last.
    pub turns: Vec<Turn>,
    /// What it may call.
    pub tools: Vec<Tool>,
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The user says something.
    User(String),
    /// The model says something, and calls tools.
    Assistant {
        /// Its words; may be empty.
        text: String,
        /// Its calls, in their order.
        calls: Vec<ToolCall>,
        /// What its wire wants to have back as it was: thoughts, signed. Never shown.
        kept: Vec<Value>,
    },
    /// What came of one call.
    Result {
        /// The model's id of the call.
        call_id: String,
        /// What the model is to read.
        text: String,
        /// It did not do what it was to do.
        failed: bool,
    },
}

/// What a model answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Its words.
    pub text: String,
    /// Its calls, in their order, with the text of their arguments as it was written.
    pub calls: Vec<ToolCall>,
    /// Thoughts in the form of the wire, to be given back with the next request.
    pub kept: Vec<Value>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
    /// The model, as the server names it.
    pub model: Option<String>,
}

impl Reply {
    /// As an entry of the conversation.
    #[must_use]
    pub fn turn(&self) -> Turn {
        Turn::Assistant {
            text: self.text.clone(),
            calls: self.calls.clone(),
            kept: self.kept.clone(),
        }
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The model had no more to say.
    #[default]
    End,
    /// It waits for the results of its calls.
    Calls,
    /// It was longer than it may be: the last call may be cut.
    Length,
    /// The server held it back.
    Refused,
}

/// Tokens, as the server counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Of those that were read, the ones that the server had kept.
    pub cached: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
    }
}

/// Something that came while an answer is still under way.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Words.
    Text(String),
    /// Thoughts.
    Thought(String),
    /// A call of this tool begins.
    Call(String),
    /// A call is written to its end; whatever is still to come, this stays.
    Whole(ToolCall),
    /// The same is asked again after so many milliseconds, for this reason: what came before is
    /// void.
    Again {
        /// Milliseconds.
        after: u64,
        /// Why.
        why: String,
    },
}
