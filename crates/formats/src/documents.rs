//! Inputs made of JSON values, one in all or one per line. Each value is a session, a list of
//! sessions, or part of a session.

use std::collections::HashMap;

use counterfoil_model::{Format, Gap, Problem, WrongJson};
use serde_json::value::RawValue;

use crate::fields::{self, Fields};
use crate::lines::{End, Piece};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::{self, Sketch};
use crate::source::{Locator, Source};
use crate::{evaluations, exchange};

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A session of its own.
    Session,
    /// One of several values that together make up a session.
    Part,
}

/// A time in milliseconds, and as it is written.
pub(crate) type Time = (i64, String);

/// How a format reads its values.
pub(crate) trait Values {
    /// What kind of value this is, if it is not an array.
    fn shape(&self, value: &RawValue) -> Shape;

    /// The session that a part belongs to, for inputs that mix rows of several sessions.
    fn session_of(&self, _value: &RawValue) -> Option<String> {
        None
    }

    /// When a part happened. The parts of a session that have times are read in their order.
    fn time_of(&self, _value: &RawValue) -> Option<Time> {
        None
    }

    /// The values in a list, or in an export that wraps one.
    fn rows<'v>(&self, value: &'v RawValue) -> Option<Vec<&'v RawValue>> {
        fields::array(value)
    }

    /// Reads one value into a session.
    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session);
}

/// A format whose log is a list of messages, an object with that list, or one message per line.
pub(crate) trait Messages: Sync {
    /// The format.
    fn format(&self) -> Format;

    /// Whether a JSON text (a line, or the beginning of a document) is in this format.
    fn recognises(&self, sketch: &Sketch) -> bool;

    /// The members of a session that may hold its messages.
    fn lists(&self) -> &'static [&'static str] {
        &["messages"]
    }

    /// The member of a message that names its session, for inputs that mix rows of several
    /// sessions.
    fn names_session(&self) -> Option<&'static str> {
        None
    }

    /// Reads the members of a session other than its messages.
    fn read_head(&self, fields: &mut Fields<'_>, _place: &mut Locator<'_>, session: &mut Session) {
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
    }

    /// Reads one message; members it does not know are left in `fields`.
    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session);
}

impl<M: Messages> Reader for M {
    fn format(&self) -> Format {
        Messages::format(self)
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        Messages::recognises(self, sketch)
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        read_values(self, Messages::format(self), source, name, sink)
    }
}

impl<M: Messages> Values for M {
    fn shape(&self, value: &RawValue) -> Shape {
        let lists = self.lists();
        match Fields::from_value(value) {
            Some(fields) if lists.iter().any(|list| fields.has(list)) => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn session_of(&self, value: &RawValue) -> Option<String> {
        let named = self.names_session()?;
        Some(Fields::from_value(value)?.string(named)?.into_owned())
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        let line = place.line_of(value.get());
        let Some(mut fields) = Fields::from_value(value) else {
            return session.problem(line, "a message is not an object");
        };
        if self.shape(value) == Shape::Session {
            self.read_head(&mut fields, place, session);
            for list in self.lists() {
                for message in fields.array(list).unwrap_or_default() {
                    self.read_value(message, place, session);
                }
            }
        } else {
            self.read_message(&mut fields, line, session);
        }
        session.leave(&fields);
    }
}

/// Reads all values of an input.
pub(crate) fn read_values<V: Values>(
    values: &V,
    format: Format,
    source: &mut Source<'_>,
    name: &str,
    sink: &mut dyn FnMut(Reading),
) -> Result<(), ReadError> {
    let mut walk = Walk {
        values,
        format,
        name,
        sink,
        parts: Together::default(),
        stray: Vec::new(),
        given: 0,
    };
    while let Some(piece) = source.next()? {
        let Piece { line, text, end } = piece;
        let broken = match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => {
                walk.top(raw, &mut Locator::new(text, line), None);
                None
            }
            Err(error) => {
                walk.broken(line, text, end, &error);
                Some(error)
            }
        };
        broken.iter().for_each(|error| source.broke(line, error));
        walk.problems(source.take_problems());
    }
    walk.problems(source.take_problems());
    let parts = std::mem::take(&mut walk.parts);
    parts.finish(values).into_iter().for_each(|session| walk.give(session));
    let stray = std::mem::take(&mut walk.stray);
    source.report(stray);
    Ok(())
}

struct Walk<'w, V> {
    values: &'w V,
    format: Format,
    name: &'w str,
    sink: &'w mut dyn FnMut(Reading),
    /// The sessions assembled from parts at the top level of the input.
    parts: Together,
    /// Problems that do not belong to any session yet.
    stray: Vec<Problem>,
    given: usize,
}

/// Sessions assembled from parts, in the order of their first part.
#[derive(Default)]
struct Together {
    sessions: Vec<Session>,
    places: HashMap<Option<String>, usize>,
    /// Index of the session that received the latest part.
    latest: usize,
    /// Parts that are read at the end, in the order of their times.
    waiting: Vec<Waiting>,
}

/// A part that is read at its time.
struct Waiting {
    session: usize,
    time: Time,
    line: usize,
    text: String,
}

impl Together {
    /// Reads a part into its session. A new session is created by `open`, which is given the number
    /// of earlier ones.
    fn read<V: Values>(
        &mut self,
        values: &V,
        raw: &RawValue,
        place: &mut Locator<'_>,
        cut: Option<Cut>,
        open: impl FnOnce(usize) -> Session,
    ) {
        let count = self.sessions.len();
        self.latest = *self.places.entry(values.session_of(raw)).or_insert(count);
        if self.latest == count {
            self.sessions.push(open(count));
        }
        let at = self.latest;
        let Some(session) = self.sessions.get_mut(at) else { return };
        if let Some(time) = values.time_of(raw) {
            let (line, text) = (place.line_of(raw.get()), raw.get().to_owned());
            self.waiting.push(Waiting { session: at, time, line, text });
        } else {
            values.read_value(raw, place, session);
        }
        note_cut(session, cut);
    }

    /// The sessions, with the parts that were waiting.
    fn finish<V: Values>(mut self, values: &V) -> Vec<Session> {
        self.waiting.sort_by(|a, b| (a.session, &a.time).cmp(&(b.session, &b.time)));
        for Waiting { session, line, text, .. } in &self.waiting {
            if let Some(session) = self.sessions.get_mut(*session)
                && let Ok(raw) = serde_json::from_str::<&RawValue>(text)
            {
                values.read_value(raw, &mut Locator::new(text, *line), session);
            }
        }
        self.sessions
    }

    fn latest(&mut self) -> Option<&mut Session> {
        self.sessions.get_mut(self.latest)
    }

    /// Marks all sessions but the latest as incomplete: an unreadable part may belong to any of
    /// them.
    fn doubt_others(&mut self) {
        let latest = self.latest;
        let others = self.sessions.iter_mut().enumerate().filter(|(at, _)| *at != latest);
        others.for_each(|(_, session)| session.gap(Gap::Unreadable));
    }
}

impl<V: Values> Walk<'_, V> {
    /// Reads a value at the top level. `cut` says where the input ended in the middle
    /// of it.
    fn top(&mut self, raw: &RawValue, place: &mut Locator<'_>, cut: Option<Cut>) {
        let Some(list) = self.values.rows(raw) else {
            if let Some(texts) = self.composed(raw, place.line_of(raw.get())) {
                return texts.iter().for_each(|text| self.exchange(text, place, cut));
            }
            match self.values.shape(raw) {
                Shape::Session => self.session(raw, place, cut),
                Shape::Part => {
                    let (id, format, given) = (self.name, self.format, self.given);
                    let (values, stray) = (self.values, &mut self.stray);
                    let open = |before: usize| {
                        let mut session = Session::new(numbered(id, given + before), format);
                        session.problems(std::mem::take(stray));
                        session
                    };
                    self.parts.read(values, raw, place, cut, open);
                }
            }
            return;
        };
        let last = list.len().saturating_sub(1);
        if list.is_empty() {
            let session = self.open();
            return self.give(session);
        }
        let mut together = Together::default();
        for (at, raw) in list.into_iter().enumerate() {
            let cut = cut.filter(|_| at == last);
            let line = place.line_of(raw.get());
            if let Some(texts) = self.composed(raw, line).filter(|_| together.sessions.is_empty()) {
                texts.iter().for_each(|text| self.exchange(text, place, cut));
                continue;
            }
            if together.sessions.is_empty() && self.values.shape(raw) == Shape::Session {
                self.session(raw, place, cut);
                continue;
            }
            let open = |before| Session::new(numbered(self.name, self.given + before), self.format);
            together.read(self.values, raw, place, cut, open);
        }
        together.finish(self.values).into_iter().for_each(|session| self.give(session));
    }

    /// The conversations of a logged request and its response, or of an evaluation's results.
    fn composed(&mut self, raw: &RawValue, line: usize) -> Option<Vec<String>> {
        let text = raw.get();
        match self.format {
            Format::OpenaiChat => {
                let Some(rows) = evaluations::rows(text) else {
                    return exchange::composed(text).map(|text| vec![text]);
                };
                if rows.without > 0 {
                    let what = format!("{} rows without a conversation", rows.without);
                    self.stray.push(Problem::at(line, what));
                }
                Some(rows.conversations)
            }
            Format::Anthropic | Format::VercelAi => exchange::composed(text).map(|text| vec![text]),
            _ => None,
        }
    }

    /// Reads a request with its response as a session of its own.
    fn exchange(&mut self, text: &str, place: &mut Locator<'_>, cut: Option<Cut>) {
        if let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
            self.session(raw, place, cut);
        }
    }

    fn session(&mut self, raw: &RawValue, place: &mut Locator<'_>, cut: Option<Cut>) {
        let mut session = self.open();
        self.values.read_value(raw, place, &mut session);
        note_cut(&mut session, cut);
        self.give(session);
    }

    fn open(&self) -> Session {
        Session::new(numbered(self.name, self.given), self.format)
    }

    fn give(&mut self, mut session: Session) {
        self.given += 1;
        if session.is_lone_answer() {
            // The request and the calls before it are in another log.
            session.transcript.completeness.add(Gap::CutStart, 0);
        }
        (self.sink)(session.finish());
    }

    /// Reads what can be kept of a piece that is not JSON.
    fn broken(&mut self, line: usize, text: &str, end: End, error: &serde_json::Error) {
        let kept = sketch::closed(text).filter(|_| error.is_eof() && end != End::Break);
        let kept = kept.unwrap_or_default();
        let cut = match end {
            End::Document => Cut::Document,
            End::Input | End::Break => Cut::Line(line),
        };
        match serde_json::from_str::<&RawValue>(&kept) {
            Ok(raw) => self.top(raw, &mut Locator::new(&kept, line), Some(cut)),
            Err(_) => self.unparsed(line, error, end),
        }
    }

    fn unparsed(&mut self, line: usize, error: &serde_json::Error, end: End) {
        self.parts.doubt_others();
        if let Some(session) = self.parts.latest() {
            session.unparsed(line, error, end);
        } else if end != End::Document {
            self.stray.push(Problem::at(line, format!("not JSON: {}", WrongJson::new(error).what)));
        }
    }

    fn problems(&mut self, problems: Vec<Problem>) {
        if !problems.is_empty() {
            self.parts.doubt_others();
        }
        match self.parts.latest() {
            Some(session) => session.problems(problems),
            None => self.stray.extend(problems),
        }
    }
}

/// Where the input ended in the middle of a value.
#[derive(Debug, Clone, Copy)]
enum Cut {
    /// In this line, the last of a log.
    Line(usize),
    /// In a document. The source reports it, once for all sessions.
    Document,
}

fn note_cut(session: &mut Session, cut: Option<Cut>) {
    let Some(cut) = cut else { return };
    let line = match cut {
        Cut::Line(line) => line,
        Cut::Document => 0,
    };
    if line > 0 {
        session.problem_instead(line, "the log is cut off in the middle of this line");
    }
    session.drop_cut_end(line);
    session.gap(Gap::CutEnd);
}

/// The id of a session without one: the name of the input, numbered from the second session on.
fn numbered(name: &str, given: usize) -> String {
    if given == 0 { name.to_owned() } else { format!("{name}#{}", given + 1) }
}
