//! A call as its client assembles it.

use counterfoil_model::ToolCall;
use serde_json::Value;

use super::unreadable::{Read, Unreadable};

/// The maximum length of a tool name, in bytes.
const LONGEST_NAME: usize = 128;

/// A call, as far as it was received.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ReadCall {
    pub(super) id: String,
    pub(super) name: String,
    arguments: Arguments,
    /// Whether its argument is plain text.
    pub(super) plain: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Arguments {
    Text(String),
    /// A JSON object in one piece.
    Object,
}

impl Default for Arguments {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl ReadCall {
    /// Sets the id, which must not change.
    pub(super) fn identify(&mut self, id: &str) -> Read {
        only(&mut self.id, id)
    }

    /// Sets the name, which some servers repeat and which must not be a sentence.
    pub(super) fn call(&mut self, name: &str) -> Read {
        if !is_name(name) {
            return Err(Unreadable::Tool);
        }
        only(&mut self.name, name)
    }

    /// Adds arguments: pieces of a text, or one object.
    pub(super) fn argue(&mut self, arguments: &Value) -> Read {
        match (&mut self.arguments, arguments) {
            (_, Value::Null) => Ok(()),
            (_, Value::String(more)) if more.is_empty() => Ok(()),
            (Arguments::Text(text), Value::String(more)) => {
                text.push_str(more);
                Ok(())
            }
            (Arguments::Text(text), Value::Object(_)) if text.is_empty() => {
                self.arguments = Arguments::Object;
                Ok(())
            }
            _ => Err(Unreadable::Call),
        }
    }

    pub(super) fn has_arguments(&self) -> bool {
        self.arguments != Arguments::default()
    }

    /// Whether its arguments are this text, which was sent again.
    pub(super) fn argues(&self, text: &str) -> bool {
        matches!(&self.arguments, Arguments::Text(own) if own == text)
    }

    /// Whether the final call agrees with this one, as far as it was received piece by piece.
    pub(super) fn ends_as(&self, ended: &Self) -> bool {
        let same = |came: &str, ended: &str| came.is_empty() || came == ended;
        same(&self.id, &ended.id)
            && same(&self.name, &ended.name)
            && (!self.has_arguments() || self.arguments == ended.arguments)
    }

    /// Whether it is the same as this call, which is judged.
    pub(super) fn is(&self, call: &ToolCall) -> bool {
        let arguments = match &self.arguments {
            // It occurs once, so all clients read the same object.
            Arguments::Object => true,
            Arguments::Text(text) if self.plain => {
                let parsed = call.arguments.parse();
                parsed.is_ok_and(|parsed| parsed.get("input").and_then(Value::as_str) == Some(text))
            }
            Arguments::Text(text) if text.is_empty() => {
                ["", "{}"].contains(&call.arguments.as_str())
            }
            Arguments::Text(text) => call.arguments.as_str() == text,
        };
        arguments && self.id == call.id && self.name == call.tool
    }
}

/// Sets a value that may be given once or repeated.
fn only(own: &mut String, given: &str) -> Read {
    if own.is_empty() {
        given.clone_into(own);
    }
    if given.is_empty() || own == given { Ok(()) } else { Err(Unreadable::Call) }
}

/// Whether a name may be the name of a tool.
fn is_name(name: &str) -> bool {
    let odd =
        |letter: char| letter.is_whitespace() || letter.is_control() || "`\"<>".contains(letter);
    name.len() <= LONGEST_NAME && !name.chars().any(odd)
}
