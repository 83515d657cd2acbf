//! An answer as its clients read it. Clients read in different ways: one takes `content`, another
//! adds what stands beside it; one adds up deltas, another takes what comes in the end. So every part
//! of an answer has to have exactly one source, and what is read here has to be what was judged.
//! `chat.rs`, `responses.rs` and `messages.rs` say which members a wire has; whatever else stands in
//! an answer is counted as `loose.rs` says. All of it ends in [`Unreadable`].

mod call;
mod chat;
mod letters;
mod loose;
mod messages;
mod responses;

use counterfoil_model::{JsonLimits, ToolCall, parse_strict};
use serde_json::{Map, Value};

use crate::request::Asked;
use crate::wire::Wire;
use call::ReadCall;
use letters::Letters;
use loose::Loose;

/// The deepest JSON of an answer.
const DEEPEST: usize = 128;

type Members = Map<String, Value>;

/// Why an answer can be read in more than one way. It quotes nothing of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("a part of it is no JSON, or repeats a member")]
    Json,
    #[error("a member of it differs from a known one in its letter case only")]
    Member,
    #[error("it has several choices")]
    Choices,
    #[error("its words have more than one source")]
    Words,
    #[error("a call of it has more than one source")]
    Call,
    #[error("an event of it has another name than kind, or none where others have one")]
    Name,
    #[error("a call of it has a name that no tool has")]
    Tool,
    #[error("a part of it begins twice, or belongs to no part that began")]
    Place,
    #[error("what it repeats differs from what came first")]
    Repeated,
    #[error("words stand at a place where nobody judges them")]
    LooseWords,
    #[error("a word in it contains look-alike or invisible characters")]
    Letters,
    #[error("a call stands at a place where nobody judges it")]
    LooseCall,
    #[error("what clients read of it is not what was judged")]
    NotJudged,
}

type Read<T = ()> = Result<T, Unreadable>;

/// Where words of an answer may stand. An answer uses one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Content,
    Refusal,
    /// What is spoken, as text.
    Transcript,
}

/// What every wire collects.
#[derive(Debug, Default)]
struct Parts {
    voice: Option<Voice>,
    text: String,
    letters: Letters,
    loose: Loose,
    /// Something came that nobody judges while it comes: sound, or a few words at an odd place.
    waits: bool,
}

impl Parts {
    /// Takes words.
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

    /// Counts what stands around an answer and is none of these members.
    fn around(&mut self, members: &Members, known: &[&str]) -> Read {
        self.loose.rest(members, known).map(|_| ())
    }

    /// The same within a part that a client shows: words there wait for the end.
    fn within(&mut self, members: &Members, known: &[&str]) -> Read {
        self.waits |= self.loose.rest(members, known)?;
        Ok(())
    }

    /// Counts a whole value at a place where no client looks for words.
    fn odd(&mut self, value: &Value) -> Read {
        self.waits |= self.loose.count("", value)?;
        Ok(())
    }
}

/// One wire's members.
trait Reader: std::fmt::Debug + Send + Sync {
    /// Reads one event of a stream.
    fn event(&mut self, event: &Value, parts: &mut Parts, asked: &Asked) -> Read;

    /// Reads an answer in one piece.
    fn whole(&mut self, answer: &Value, parts: &mut Parts, asked: &Asked) -> Read;

    /// The calls of functions and custom tools, in their order.
    fn calls(&self) -> Vec<ReadCall>;
}

/// An answer, as far as it came.
#[derive(Debug)]
pub(crate) struct Shape {
    wire: Wire,
    reader: Box<dyn Reader>,
    parts: Parts,
    /// Whether the events of its stream have names.
    named: Option<bool>,
}

/// Whether an event may go on before the end of its answer.
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

    /// Looks at the name of an event: some clients pass over what they do not know by its name,
    /// others look only at what it says.
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

    /// Reads an answer in one piece.
    ///
    /// # Errors
    /// When clients may read it in different ways.
    pub(crate) fn whole(wire: Wire, answer: &Value, asked: &Asked) -> Result<Self, Unreadable> {
        let mut shape = Self::new(wire);
        shape.reader.whole(answer, &mut shape.parts, asked)?;
        Ok(shape)
    }

    /// Compares what clients read with what is judged.
    ///
    /// # Errors
    /// When they are not the same.
    pub(crate) fn is_judged(&self, text: &str, calls: &[ToolCall]) -> Result<(), Unreadable> {
        let read = self.reader.calls();
        let same = self.parts.text == text
            && read.len() == calls.len()
            && read.iter().zip(calls).all(|(read, call)| read.is(call));
        if same { Ok(()) } else { Err(Unreadable::NotJudged) }
    }
}

/// JSON that every reader reads alike.
///
/// # Errors
/// When it is none.
pub(crate) fn parse(text: &str) -> Result<Value, Unreadable> {
    let limits = JsonLimits { depth: DEEPEST, bytes: usize::MAX };
    parse_strict(text, limits).map_err(|_| Unreadable::Json)
}

/// Whether nothing stands here.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a member is there and says something.
fn has(members: &Members, name: &str) -> bool {
    members.get(name).is_some_and(|value| !is_nothing(value))
}

/// The text of a member; none where it is something else.
fn text<'m>(members: &'m Members, name: &str) -> &'m str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A member that is a text or nothing.
fn only_text<'m>(members: &'m Members, name: &str) -> Read<&'m str> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Unreadable::Words),
    }
}

/// A member that is a list or nothing.
fn list<'m>(members: &'m Members, name: &str) -> Read<&'m [Value]> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(Unreadable::Place),
    }
}

/// A place in a list.
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
