//! Reads an answer as its clients do. Clients differ: one takes `content`, another adds what is
//! next to it; one joins deltas, another takes the final value. So every part of an answer must
//! have exactly one source, and what is read here must be what was judged. `chat.rs`,
//! `responses.rs` and `messages.rs` define the members of a wire; anything else in an answer is
//! counted by `loose.rs`. Every violation is an [`Unreadable`].

mod call;
mod chat;
mod letters;
mod loose;
mod members;
mod messages;
mod native;
mod reader;
mod responses;
mod unreadable;

use counterfoil_model::{JsonLimits, ToolCall, parse_strict};
use serde_json::Value;

use crate::request::ModelRequest;
use crate::wire::Wire;
use letters::Letters;
use members::{Members, has, object, text};
use reader::{Parts, Reader};
use unreadable::Read;
pub(crate) use unreadable::Unreadable;

/// The maximum nesting depth of an answer's JSON.
const DEEPEST: usize = 128;

/// An answer, as far as it was received.
#[derive(Debug)]
pub(crate) struct Shape {
    wire: Wire,
    reader: Box<dyn Reader>,
    parts: Parts,
    /// Whether the events of its stream have names.
    named: Option<bool>,
}

/// Whether an event may be passed on before the end of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Flows,
    Waits,
}

impl Shape {
    pub(crate) fn new(wire: Wire) -> Self {
        let reader: Box<dyn Reader> = match wire {
            Wire::Chat => Box::new(chat::Choice::default()),
            Wire::Responses => Box::new(responses::Items::default()),
            Wire::Messages => Box::new(messages::Blocks::default()),
        };
        Self { wire, reader, parts: Parts::default(), named: None }
    }

    /// Reads one event of a stream.
    ///
    /// # Errors
    /// When clients may read it in different ways.
    pub(crate) fn event(
        &mut self,
        name: &str,
        event: &Value,
        request: &ModelRequest,
    ) -> Result<Flow, Unreadable> {
        self.name(name, object(event)?)?;
        self.parts.waits = false;
        self.reader.event(event, &mut self.parts, request)?;
        Ok(if self.parts.waits { Flow::Waits } else { Flow::Flows })
    }

    /// Checks the name of an event: some clients skip events with unknown names, others look only
    /// at the content.
    fn name(&mut self, name: &str, event: &Members) -> Read {
        let kind = text(event, "type");
        let speaks = match self.wire {
            Wire::Chat => has(event, "choices"),
            Wire::Responses | Wire::Messages => true,
        };
        let plain = name.is_empty() || name == "message" && self.wire != Wire::Messages;
        if speaks && !plain && name != kind {
            return Err(Unreadable::Name);
        }
        let counts = self.wire == Wire::Messages && kind != "ping";
        if counts && *self.named.get_or_insert(!name.is_empty()) == name.is_empty() {
            return Err(Unreadable::Name);
        }
        Ok(())
    }

    /// Reads an answer that is not streamed.
    ///
    /// # Errors
    /// When clients may read it in different ways.
    pub(crate) fn whole(
        wire: Wire,
        answer: &Value,
        request: &ModelRequest,
    ) -> Result<Self, Unreadable> {
        let mut shape = Self::new(wire);
        shape.reader.whole(answer, &mut shape.parts, request)?;
        Ok(shape)
    }

    /// The server's words about the answer.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.parts.loose.remarks
    }

    /// Compares what clients read with what is judged.
    ///
    /// # Errors
    /// When they differ.
    pub(crate) fn is_judged(&self, text: &str, calls: &[ToolCall]) -> Result<(), Unreadable> {
        let read = self.reader.calls();
        let same = self.parts.text == text
            && read.len() == calls.len()
            && read.iter().zip(calls).all(|(read, call)| read.is(call));
        if same { Ok(()) } else { Err(Unreadable::NotJudged) }
    }
}

/// Parses JSON that all readers read alike.
///
/// # Errors
/// When it is not such JSON.
pub(crate) fn parse(text: &str) -> Result<Value, Unreadable> {
    let limits = JsonLimits { depth: DEEPEST, bytes: usize::MAX };
    parse_strict(text, limits).map_err(|_| Unreadable::Json)
}

/// Whether a text has a word that is not what it looks like.
pub(crate) fn has_odd_letters(text: &str) -> bool {
    Letters::default().read(text).is_err()
}
