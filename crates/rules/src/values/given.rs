//! Everything that the agent was given, so that a value can be traced to its source.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use counterfoil_model::{MessageKind, Role, Status, Transcript};
use rustc_hash::FxHashMap;

use super::any_case::AnyCase;
use super::leaves::Leaves;
use super::stretch::Stretch;
use super::word_search::WordSearch;
use crate::facts::{Memo, Record};

/// The number of bytes before a message that are searched for each value. Earlier text is searched
/// once for all values.
const NEAR: usize = 64 * 1024;
/// The number of words that are searched for one by one. If there are more, all are searched for
/// together.
const FEW: usize = 1;

/// All texts that an agent was given in a session, in order.
#[derive(Debug)]
pub(crate) struct Given<'t> {
    texts: Vec<Text<'t>>,
    /// The total bytes of all texts before each text.
    offsets: Vec<usize>,
    /// The first message with a shortened result.
    cut: Option<usize>,
    /// The texts near the latest message that was asked about: answers are judged in order.
    stretch: RefCell<Option<(usize, Rc<Stretch>)>>,
    far: OnceCell<HashMap<String, Firsts>>,
    /// The first occurrences of words that were searched for one by one.
    far_few: RefCell<FxHashMap<String, Firsts>>,
    /// The JSON results, by execution, parsed on demand.
    parsed: Memo<usize, Option<Rc<Leaves<'t>>>>,
}

/// A text that the agent was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'t> {
    /// The message that brought it.
    pub(crate) turn: usize,
    /// What it says.
    pub(crate) text: &'t str,
    /// Its source.
    pub(crate) source: Source,
}

/// The source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Policy, the user, the harness.
    Message,
    /// The result of this execution.
    Result(usize),
    /// The agent's own arguments of this execution, which succeeded.
    Argument(usize),
}

/// The first text that contains a word, and the first of the agent's own arguments that does.
type Firsts = [Option<usize>; 2];

impl Source {
    /// The index of this source in `Firsts`.
    fn slot(self) -> usize {
        usize::from(matches!(self, Self::Argument(_)))
    }
}

impl<'t> Given<'t> {
    pub(crate) fn new(transcript: &'t Transcript, record: &Record<'t>) -> Self {
        let from_messages = transcript.messages.iter().enumerate().filter_map(|(turn, message)| {
            let is_given = message.role != Role::Assistant || message.kind == MessageKind::Summary;
            let text = message.text.as_str();
            (is_given && !text.is_empty()).then_some(Text { turn, text, source: Source::Message })
        });
        let mut texts: Vec<Text<'t>> = from_messages.collect();
        for (at, execution) in record.executions().iter().enumerate() {
            let Some(outcome) = execution.outcome else { continue };
            let turn = execution.answered_at.unwrap_or(execution.called_at);
            if let Some(call) = execution.call
                && execution.status() == Status::Completed
            {
                let text = call.arguments.as_str();
                texts.push(Text { turn, text, source: Source::Argument(at) });
            }
            let text = outcome.text.as_str();
            texts.push(Text { turn, text, source: Source::Result(at) });
        }
        texts.sort_by_key(|text| text.turn);
        let mut offsets = Vec::with_capacity(texts.len() + 1);
        let mut sum = 0;
        for text in &texts {
            offsets.push(sum);
            sum += text.text.len();
        }
        offsets.push(sum);
        let cut = (record.executions().iter())
            .filter(|e| e.outcome.is_some_and(|o| o.truncated))
            .map(|e| e.answered_at.unwrap_or(e.called_at))
            .min();
        Self {
            texts,
            offsets,
            cut,
            stretch: RefCell::default(),
            far: OnceCell::new(),
            far_few: RefCell::default(),
            parsed: Memo::default(),
        }
    }

    /// Whether no result before the message was shortened.
    pub(crate) fn is_whole_before(&self, turn: usize) -> bool {
        self.cut.is_none_or(|cut| cut >= turn)
    }

    /// The texts before the message, newest first, within this number of bytes.
    pub(crate) fn near(&self, turn: usize, bytes: usize) -> impl Iterator<Item = &Text<'t>> {
        let until = self.until(turn);
        let end = self.offsets.get(until).copied().unwrap_or(0);
        let texts = self.texts.get(..until).unwrap_or_default().iter();
        let offsets = self.offsets.get(..until).unwrap_or_default().iter();
        let texts = texts.rev().zip(offsets.rev());
        texts
            .take_while(move |(text, from)| end - **from <= bytes + text.text.len())
            .map(|(t, _)| t)
    }

    /// The JSON results before the message that contain the word, newest first, within this number
    /// of bytes.
    pub(crate) fn documents(&self, word: &str, turn: usize, bytes: usize) -> Vec<Rc<Leaves<'t>>> {
        let word = AnyCase::new(word);
        self.texts_of_results(turn, bytes)
            .filter(|(_, text)| word.occurs_in(text))
            .filter_map(|(execution, text)| self.leaves(execution, text))
            .collect()
    }

    /// The results before the message that may be JSON, newest first, each with its execution.
    fn texts_of_results(
        &self,
        turn: usize,
        bytes: usize,
    ) -> impl Iterator<Item = (usize, &'t str)> {
        self.near(turn, bytes).filter_map(|given| match given.source {
            Source::Result(execution) if given.text.trim_start().starts_with(['{', '[']) => {
                Some((execution, given.text))
            }
            _ => None,
        })
    }

    /// The parsed result of an execution; `None` if it is not JSON.
    pub(crate) fn leaves(&self, execution: usize, text: &'t str) -> Option<Rc<Leaves<'t>>> {
        self.parsed.get(execution, || Leaves::parse(text).map(Rc::new))
    }

    /// Finds a text before the message that contains the word, ignoring case. `all` returns every
    /// word that may be asked for in the session; `own` includes the agent's own arguments.
    pub(crate) fn find(
        &self,
        word: &str,
        turn: usize,
        own: bool,
        all: impl FnOnce() -> Vec<String>,
    ) -> Option<&Text<'t>> {
        let until = self.until(turn);
        let text = |nth: usize| self.texts.get(until.checked_sub(nth + 1)?);
        let own_words = |text: &Text<'t>| matches!(text.source, Source::Argument(_));
        let admitted = |nth: usize| own || !text(nth).is_some_and(own_words);
        if let Some(nth) = self.stretch(turn).find(word, admitted) {
            return text(nth);
        }
        if self.offsets.get(until).is_none_or(|&bytes| bytes <= NEAR) {
            return None;
        }
        let [given, argument] = self.first(word, all);
        let first = given.or(argument.filter(|_| own)).filter(|&first| first < until)?;
        self.texts.get(first)
    }

    /// The texts near the message, newest first.
    fn stretch(&self, turn: usize) -> Rc<Stretch> {
        if let Some((known, stretch)) = &*self.stretch.borrow()
            && *known == turn
        {
            return Rc::clone(stretch);
        }
        let stretch = Rc::new(Stretch::new(self.near(turn, NEAR).map(|text| text.text)));
        self.stretch.replace(Some((turn, Rc::clone(&stretch))));
        stretch
    }

    /// The first occurrences of a word.
    fn first(&self, word: &str, all: impl FnOnce() -> Vec<String>) -> Firsts {
        let word = word.to_ascii_lowercase();
        if let Some(first) = self.far_few.borrow().get(&word) {
            return *first;
        }
        if self.far.get().is_some() || self.far_few.borrow().len() >= FEW {
            // A check that starts at another message may ask for words that were not searched for.
            if let Some(first) = self.far.get_or_init(|| self.firsts(all())).get(&word) {
                return *first;
            }
        }
        let first = self.first_of(&word);
        self.far_few.borrow_mut().insert(word, first);
        first
    }

    /// Searches for the first occurrences of a word.
    fn first_of(&self, word: &str) -> Firsts {
        let search = AnyCase::new(word);
        let mut first = Firsts::default();
        for (at, text) in self.texts.iter().enumerate() {
            if let Some(slot @ None) = first.get_mut(text.source.slot())
                && search.occurs_in(text.text)
            {
                *slot = Some(at);
            }
        }
        first
    }

    /// The first occurrences of several words.
    fn firsts(&self, mut words: Vec<String>) -> HashMap<String, Firsts> {
        for word in &mut words {
            word.make_ascii_lowercase();
        }
        words.retain(|word| !word.is_empty());
        words.sort_unstable();
        words.dedup();
        let mut found: Vec<Firsts> = vec![Firsts::default(); words.len()];
        if let Some(search) = WordSearch::new(&words, true) {
            for (at, text) in self.texts.iter().enumerate() {
                let slot = text.source.slot();
                search.each(text.text, |word| {
                    let firsts = found.get_mut(word);
                    if let Some(first) = firsts.and_then(|firsts| firsts.get_mut(slot)) {
                        first.get_or_insert(at);
                    }
                });
            }
        }
        words.into_iter().zip(found).collect()
    }

    /// The number of texts before the message.
    fn until(&self, turn: usize) -> usize {
        self.texts.partition_point(|text| text.turn < turn)
    }
}
