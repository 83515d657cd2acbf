use serde_json::Value;

use super::call::ReadCall;
use super::letters::Letters;
use super::loose::Loose;
use super::members::Members;
use super::unreadable::{Read, Unreadable};
use crate::request::ModelRequest;

/// The members that can hold the words of an answer. An answer uses only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Content,
    Refusal,
    /// The transcript of spoken words.
    Transcript,
}

/// What is collected on every wire.
#[derive(Debug, Default)]
pub(super) struct Parts {
    voice: Option<Voice>,
    pub(super) text: String,
    letters: Letters,
    pub(super) loose: Loose,
    /// Whether something was received that is not judged while streaming: sound, or a few words at
    /// an unexpected place.
    pub(super) waits: bool,
}

impl Parts {
    /// Adds words.
    pub(super) fn say(&mut self, voice: Voice, text: &str) -> Read {
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
    pub(super) fn around(&mut self, members: &Members, known: &[&str]) -> Read {
        self.loose.rest(members, known).map(|_| ())
    }

    /// Counts the other members in a part that a client shows. Words there wait for the end.
    pub(super) fn within(&mut self, members: &Members, known: &[&str]) -> Read {
        self.waits |= self.loose.rest(members, known)?;
        Ok(())
    }

    /// Counts a whole value at a place where clients do not look for words.
    pub(super) fn odd(&mut self, value: &Value) -> Read {
        self.waits |= self.loose.count("", value)?;
        Ok(())
    }
}

/// Reads the members of one wire.
pub(super) trait Reader: std::fmt::Debug + Send + Sync {
    /// Reads one event of a stream.
    fn event(&mut self, event: &Value, parts: &mut Parts, request: &ModelRequest) -> Read;

    /// Reads an answer that is not streamed.
    fn whole(&mut self, answer: &Value, parts: &mut Parts, request: &ModelRequest) -> Read;

    /// The calls of functions and custom tools, in order.
    fn calls(&self) -> Vec<ReadCall>;
}
