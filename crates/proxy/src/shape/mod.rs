//! Reads an answer as its clients do. Clients differ: one takes `content`, another adds what is
//! next to it; one joins deltas, another takes the final value. So every part of an answer must
//! have exactly one source, and what is read here must be what was judged. `chat.rs`,
//! `responses.rs` and `messages.rs` define the members of a wire; anything else in an answer is
//! counted by `loose.rs`. Every violation is an [`Unreadable`].

mod call;
mod chat;
mod letters;
mod loose;
mod messages;
mod native;
mod responses;

use counterfoil_model::{JsonLimits, ToolCall, parse_strict};
use serde_json::{Map, Value};

use crate::request::Asked;
use crate::wire::Wire;
use call::ReadCall;
use letters::Letters;
use loose::Loose;

/// The maximum nesting depth of an answer's JSON.
const DEEPEST: usize = 128;

type Members = Map<String, Value>;

/// Why an answer can be read in more than one way. It quotes nothing from the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("part of the answer is not valid JSON, or contains a duplicate key")]
    Json,
    #[error("a member of the answer differs from a known one only in letter case")]
    Member,
    #[error("the answer has several choices")]
    Choices,
    #[error("the text of the answer has more than one source")]
    Words,
    #[error("a call in the answer has more than one source")]
    Call,
    #[error(
        "an event has a name that differs from its `type`, or some events have names and others \
         have none"
    )]
    Name,
    #[error("a call in the answer has a name that no tool can have")]
    Tool,
    #[error("a part of the answer begins twice, or never began")]
    Place,
    #[error("a repeated part of the answer differs from the first version")]
    Repeated,
    #[error("the answer has text in a place that is not checked")]
    LooseWords,
    #[error("a word in the answer contains look-alike or invisible characters")]
    Letters,
    #[error("the answer has a call in a place that is not checked")]
    LooseCall,
    #[error("clients would read something other than what was judged")]
    NotJudged,
}

type Read<T = ()> = Result<T, Unreadable>;

/// The members that can hold the words of an answer. An answer uses only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Content,
    Refusal,
    /// The transcript of spoken words.
    Transcript,
}

/// What is collected on every wire.
#[derive(Debug, Default)]
struct Parts {
    voice: Option<Voice>,
    text: String,
    letters: Letters,
    loose: Loose,
    /// Whether something was received that is not judged while streaming: sound, or a few words at
    /// an unexpected place.
    waits: bool,
}

impl Parts {
    /// Adds words.
    fn say(&mut self, voice: Voice, text: &str) -> Read {
        if text.is_empty() {
            return Ok(());
        }
        if *self.voice.get_or_insert(voice) != voice {
            return Err(Unreadable::Words);
        }
        self.text.push_str(text);
        self.letters.read(text)
    }

    /// Counts the members around an answer, except these.
    fn around(&mut self, members: &Members, known: &[&str]) -> Read {
        self.loose.rest(members, known).map(|_| ())
    }

    /// Counts the other members in a part that a client shows. Words there wait for the end.
    fn within(&mut self, members: &Members, known: &[&str]) -> Read {
        self.waits |= self.loose.rest(members, known)?;
        Ok(())
    }

    /// Counts a whole value at a place where clients do not look for words.
    fn odd(&mut self, value: &Value) -> Read {
        self.waits |= self.loose.count("", value)?;
        Ok(())
    }
}

/// Reads the members of one wire.
trait Reader: std::fmt::Debug + Send + Sync {
    /// Reads one event of a stream.
    fn event(&mut self, event: &Value, parts: &mut Parts, asked: &Asked) -> Read;

    /// Reads an answer that is not streamed.
    fn whole(&mut self, answer: &Value, parts: &mut Parts, asked: &Asked) -> Read;

    /// The calls of functions and custom tools, in order.
    fn calls(&self) -> Vec<ReadCall>;
}

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
        asked: &Asked,
    ) -> Result<Flow, Unreadable> {
        self.name(name, object(event)?)?;
        self.parts.waits = false;
        self.reader.event(event, &mut self.parts, asked)?;
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
    pub(crate) fn whole(wire: Wire, answer: &Value, asked: &Asked) -> Result<Self, Unreadable> {
        let mut shape = Self::new(wire);
        shape.reader.whole(answer, &mut shape.parts, asked)?;
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

/// Whether a value is empty.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a member is present and not empty.
fn has(members: &Members, name: &str) -> bool {
    members.get(name).is_some_and(|value| !is_nothing(value))
}

/// The text of a member; empty if it is something else.
fn text<'m>(members: &'m Members, name: &str) -> &'m str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A member that must be a text or missing.
fn only_text<'m>(members: &'m Members, name: &str) -> Read<&'m str> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Unreadable::Words),
    }
}

/// A member that must be a list or missing.
fn list<'m>(members: &'m Members, name: &str) -> Read<&'m [Value]> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(Unreadable::Place),
    }
}

/// A member that must be an index or missing.
fn place(members: &Members, name: &str) -> Read<Option<usize>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let at = value.as_u64().and_then(|at| usize::try_from(at).ok());
            at.map(Some).ok_or(Unreadable::Place)
        }
    }
}

fn object(value: &Value) -> Read<&Members> {
    value.as_object().ok_or(Unreadable::Place)
}
