//! What the agent was given, so that a value can be traced to where it stands.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use counterfoil_model::{MessageKind, Role, Status, Transcript};
use rustc_hash::FxHashMap;

use super::any_case::AnyCase;
use super::latest::Latest;
use super::leaves::Leaves;
use super::stretch::Stretch;
use super::word_search::WordSearch;
use crate::facts::Record;

/// So many bytes before a message are read anew for each value; what stands further back is
/// looked for once, for all values together.
const NEAR: usize = 64 * 1024;
/// So many words are looked for one by one; for more, all are looked for together.
const FEW: usize = 1;

/// Everything that an agent was given in a session, in order.
#[derive(Debug)]
pub(crate) struct Given<'t> {
    texts: Vec<Text<'t>>,
    /// The bytes of all texts before each.
    offsets: Vec<usize>,
    /// The first message that carries a shortened result.
    cut: Option<usize>,
    /// The texts near a message.
    stretch: Latest<Stretch>,
    far: OnceCell<HashMap<String, Firsts>>,
    /// The same for the words that were looked for one by one.
    far_few: RefCell<FxHashMap<String, Firsts>>,
    /// Letters and digits of the texts, as far as anybody asked.
    plain: RefCell<FxHashMap<usize, Rc<str>>>,
    /// The results that are JSON, by execution, as far as anybody asked.
    parsed: RefCell<FxHashMap<usize, Option<Rc<Leaves<'t>>>>>,
}

/// One text that the agent was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'t> {
    /// The message that brought it.
    pub(crate) turn: usize,
    /// What it says.
    pub(crate) text: &'t str,
    /// Where it comes from.
    pub(crate) source: Source,
}

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Policy, the user, the harness.
    Told,
    /// The result of this execution.
    Result(usize),
    /// The agent's own arguments of this execution, which went through.
    Argument(usize),
}

/// The first text that holds a word, and the first of the agent's own arguments that does.
type Firsts = [Option<usize>; 2];

impl Source {
    /// Which of the two it is.
    fn slot(self) -> usize {
        usize::from(matches!(self, Self::Argument(_)))
    }
}

impl<'t> Given<'t> {
    pub(crate) fn of(transcript: &'t Transcript, record: &Record<'t>) -> Self {
        let told = transcript.messages.iter().enumerate().filter_map(|(turn, message)| {
            let told = message.role != Role::Assistant || message.kind == MessageKind::Summary;
            let text = message.text.as_str();
            (told && !text.is_empty()).then_some(Text { turn, text, source: Source::Told })
        });
        let mut texts: Vec<Text<'t>> = told.collect();
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
            stretch: Latest::default(),
            far: OnceCell::new(),
            far_few: RefCell::default(),
            plain: RefCell::default(),
            parsed: RefCell::default(),
        }
    }

    /// Whether no result before the message was shortened.
    pub(crate) fn is_whole_before(&self, turn: usize) -> bool {
        self.cut.is_none_or(|cut| cut >= turn)
    }

    /// The texts given before the message, newest first, as far as so many bytes reach back.
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

    /// The JSON results before the message that hold the word, newest first, as far as so many
    /// bytes reach back.
    pub(crate) fn documents(&self, word: &str, turn: usize, bytes: usize) -> Vec<Rc<Leaves<'t>>> {
        let word = AnyCase::new(word);
        self.texts_of_results(turn, bytes)
            .filter(|(_, text)| word.stands_in(text))
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

    /// What a text of an execution's holds that is its result; `None` where it is not JSON.
    pub(crate) fn leaves(&self, execution: usize, text: &'t str) -> Option<Rc<Leaves<'t>>> {
        let mut parsed = self.parsed.borrow_mut();
        parsed.entry(execution).or_insert_with(|| Leaves::of(text).map(Rc::new)).clone()
    }

    /// A text before the message that holds the word, in any case. `all` gives every word that the
    /// session may ask for; `own` admits the agent's own arguments.
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
        self.stretch.get(turn, || Stretch::of(self.near(turn, NEAR).map(|text| text.text)))
    }

    /// A text before the message that has the letters and digits of the words in their order,
    /// whatever stands between; as far as [`NEAR`] reaches back.
    pub(crate) fn find_loosely(&self, words: &str, turn: usize) -> Option<&Text<'t>> {
        let wanted = plain(words);
        let finder = memchr::memmem::Finder::new(wanted.as_bytes());
        let mut near = self.near(turn, NEAR).zip((0..self.until(turn)).rev());
        let found = near.find(|(text, at)| {
            let mut known = self.plain.borrow_mut();
            let letters = known.entry(*at).or_insert_with(|| plain(text.text).into());
            finder.find(letters.as_bytes()).is_some()
        });
        found.map(|(text, _)| text)
    }

    /// Where a word stands first.
    fn first(&self, word: &str, all: impl FnOnce() -> Vec<String>) -> Firsts {
        let word = word.to_ascii_lowercase();
        if let Some(first) = self.far_few.borrow().get(&word) {
            return *first;
        }
        if self.far.get().is_some() || self.far_few.borrow().len() >= FEW {
            // Whoever asks from another message on may ask for words that were not looked for.
            if let Some(first) = self.far.get_or_init(|| self.firsts(all())).get(&word) {
                return *first;
            }
        }
        let first = self.first_of(&word);
        self.far_few.borrow_mut().insert(word, first);
        first
    }

    /// Looks where a word stands first.
    fn first_of(&self, word: &str) -> Firsts {
        let search = AnyCase::new(word);
        let mut first = Firsts::default();
        for (at, text) in self.texts.iter().enumerate() {
            if let Some(slot @ None) = first.get_mut(text.source.slot())
                && search.stands_in(text.text)
            {
                *slot = Some(at);
            }
        }
        first
    }

    /// Where each of some words stands first.
    fn firsts(&self, mut words: Vec<String>) -> HashMap<String, Firsts> {
        for word in &mut words {
            word.make_ascii_lowercase();
        }
        words.retain(|word| !word.is_empty());
        words.sort_unstable();
        words.dedup();
        let mut found: Vec<Firsts> = vec![Firsts::default(); words.len()];
        if let Some(search) = WordSearch::of(&words, true) {
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

    /// How many texts stand before the message.
    fn until(&self, turn: usize) -> usize {
        self.texts.partition_point(|text| text.turn < turn)
    }
}

/// The letters and digits of a text, in lower case.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).collect()
}
