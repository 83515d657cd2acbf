use std::borrow::Cow;

use counterfoil_model::{Message, MessageKind, Role, Transcript};

use crate::call::Call;
use crate::execution::{Execution, executions};
use crate::facts::Facts;
use crate::line::{Chunk, Label, Line, LineKind};
use crate::terms::{hash_of, terms};
use crate::value::{ValueKind, each_value};

/// An indexed transcript: its lines, its calls, and an index of its words and values.
#[derive(Debug)]
pub struct Record<'t> {
    pub(crate) transcript: &'t Transcript,
    pub(crate) lines: Vec<Line<'t>>,
    pub(crate) calls: Vec<Call<'t>>,
    pub(crate) chunks: Vec<Chunk>,
    /// Line positions by label, sorted.
    labels: Vec<(Label, usize)>,
    /// Hashes of words with the chunks that contain them, sorted by both.
    terms: Vec<(u64, u32)>,
    /// Sorted by kind, key, line and position.
    pub(crate) values: Vec<Occurrence>,
}

/// An occurrence of a value in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub(crate) kind: ValueKind,
    key: u64,
    pub(crate) line: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl<'t> Record<'t> {
    /// Indexes a transcript without redaction.
    #[must_use]
    pub fn new(transcript: &'t Transcript) -> Self {
        Self::redacted(transcript, &|text| Cow::Borrowed(text))
    }

    /// Indexes a transcript after passing every text through `redact`: each message, the arguments
    /// of each call, each result.
    #[must_use]
    pub fn redacted(
        transcript: &'t Transcript,
        redact: &dyn for<'s> Fn(&'s str) -> Cow<'s, str>,
    ) -> Self {
        let mut record = Self {
            transcript,
            lines: Vec::new(),
            calls: Vec::new(),
            chunks: Vec::new(),
            labels: Vec::new(),
            terms: Vec::new(),
            values: Vec::new(),
        };
        record.add_messages(transcript, redact);
        let folder = transcript.directory.as_deref();
        for (at, execution) in executions(transcript).iter().enumerate() {
            record.add_call(at + 1, execution, folder, redact);
        }
        record.lines.sort_by_key(|line| (line.message, line.label.kind, line.label.number));
        record.index();
        record
    }

    /// The facts known before message `message`.
    #[must_use]
    pub fn up_to(&self, message: usize) -> Facts<'_> {
        Facts::new(self, message)
    }

    /// The transcript itself, not redacted.
    #[must_use]
    pub fn transcript(&self) -> &'t Transcript {
        self.transcript
    }

    /// All lines, in order of their messages.
    #[must_use]
    pub fn lines(&self) -> &[Line<'t>] {
        &self.lines
    }

    /// The line with the text of message `message`; `None` if it has no text.
    #[must_use]
    pub fn text_line(&self, message: usize) -> Option<&Line<'t>> {
        let from = self.lines.partition_point(|line| line.message < message);
        let of_message = self.lines.iter().skip(from).take_while(|line| line.message == message);
        of_message.into_iter().find(|line| {
            !matches!(line.label.kind, LineKind::Call | LineKind::Result | LineKind::Fact)
        })
    }

    pub(crate) fn position(&self, label: Label) -> Option<usize> {
        let at = self.labels.binary_search_by_key(&label, |(known, _)| *known).ok()?;
        self.labels.get(at).map(|(_, position)| *position)
    }

    /// The chunks that contain a term, ascending.
    pub(crate) fn chunks_with(&self, term: u64) -> &[(u64, u32)] {
        let from = self.terms.partition_point(|(known, _)| *known < term);
        let until = self.terms.partition_point(|(known, _)| *known <= term);
        self.terms.get(from..until).unwrap_or_default()
    }

    /// The occurrences of a value, by line.
    pub(crate) fn places_of(&self, kind: ValueKind, key: &str) -> &[Occurrence] {
        let wanted = (kind, hash_of(key));
        let from = self.values.partition_point(|place| (place.kind, place.key) < wanted);
        let until = self.values.partition_point(|place| (place.kind, place.key) <= wanted);
        self.values.get(from..until).unwrap_or_default()
    }

    fn add_messages(
        &mut self,
        transcript: &'t Transcript,
        redact: &dyn for<'s> Fn(&'s str) -> Cow<'s, str>,
    ) {
        let mut counts = [0_usize; 3];
        for (at, message) in transcript.messages.iter().enumerate() {
            let Some(kind) = kind_of(message) else { continue };
            let Some(count) = counts.get_mut(kind as usize) else { continue };
            *count += 1;
            let label = Label::new(kind, *count);
            let text = redact(&message.text);
            self.lines.push(Line { label, message: at, text, note: note_of(message) });
        }
    }

    fn add_call(
        &mut self,
        number: usize,
        execution: &Execution<'t>,
        folder: Option<&str>,
        redact: &dyn for<'s> Fn(&'s str) -> Cow<'s, str>,
    ) {
        let arguments = redact(execution.call.map_or("", |call| call.arguments.as_str()));
        let text = execution.outcome.map(|outcome| redact(&outcome.text));
        let result = text.as_deref().unwrap_or_default();
        let call = Call::new(number, execution, (&arguments, result), folder, &self.calls);
        self.calls.push(call);
        if let Some(call) = execution.call {
            let label = Label::new(LineKind::Call, number);
            let text = Cow::Owned(format!("{} {arguments}", call.tool).trim_end().to_owned());
            let note = execution.agent.map(|_| "by a sub-agent");
            self.lines.push(Line { label, message: execution.called_at, text, note });
        }
        if let (Some(text), Some(message)) = (text, execution.answered_at) {
            let label = Label::new(LineKind::Result, number);
            self.lines.push(Line { label, message, text, note: None });
        }
    }

    fn index(&mut self) {
        let mut of_chunk: Vec<u64> = Vec::new();
        for (position, line) in self.lines.iter().enumerate() {
            self.labels.push((line.label, position));
            let text: &str = &line.text;
            let (chunks, index) = (&mut self.chunks, &mut self.terms);
            Chunk::cut(position, text, |chunk| {
                let number = narrow(chunks.len());
                of_chunk.clear();
                terms(text.get(chunk.start..chunk.end).unwrap_or_default(), |t| of_chunk.push(t));
                of_chunk.sort_unstable();
                of_chunk.dedup();
                index.extend(of_chunk.iter().map(|term| (*term, number)));
                chunks.push(chunk);
            });
            let values = &mut self.values;
            each_value(text, |value| {
                values.push(Occurrence {
                    kind: value.kind,
                    key: hash_of(&value.key),
                    line: narrow(position),
                    start: narrow(value.start),
                    end: narrow(value.end),
                });
            });
        }
        self.labels.sort_unstable();
        self.terms.sort_unstable();
        self.values.sort_unstable();
    }
}

/// Narrows a position; positions beyond `u32::MAX` cannot be found.
fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// The kind of line for a message's text; `None` for reasoning and empty texts.
fn kind_of(message: &Message) -> Option<LineKind> {
    if message.text.trim().is_empty() {
        return None;
    }
    Some(match (message.kind, message.role) {
        (MessageKind::Reasoning, _) => return None,
        (MessageKind::Injected | MessageKind::Summary, _) => LineKind::System,
        (MessageKind::Ordinary, Role::System | Role::Tool) => LineKind::System,
        (MessageKind::Ordinary, Role::User) => LineKind::User,
        (MessageKind::Ordinary, Role::Assistant) => LineKind::Agent,
    })
}

fn note_of(message: &Message) -> Option<&'static str> {
    match message.kind {
        MessageKind::Injected => Some("added by the harness"),
        MessageKind::Summary => Some("a summary that replaced earlier messages"),
        _ => message.agent.as_ref().map(|_| "by a sub-agent"),
    }
}
