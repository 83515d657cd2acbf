use std::ops::Range;

use counterfoil_model::Span;

use super::boundary::starts_clause;
use super::completed::predicates;
use super::lexicon::Tags;
use super::mood::{Context, Mood, only_leads};
use super::predicate::{Predicate, has_verb};
use super::sentences::Sentence;
use super::token::{Kinds, Token};
use super::words::{Marks, Words};

/// A part of a sentence with at most one subject, and the actions that it reports.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    /// The index of its sentence.
    pub(crate) sentence: usize,
    /// Its tokens.
    pub(crate) tokens: Range<usize>,
    /// Its position.
    pub(crate) span: Span,
    /// The tags of all its words outside quotation marks.
    pub(crate) tags: Tags,
    /// The marks of all its tokens.
    pub(super) marks: Marks,
    /// The kinds of all its tokens.
    pub(crate) kinds: Kinds,
    /// Its mood.
    pub(crate) mood: Mood,
    /// The completed verbs in it.
    pub(crate) predicates: Vec<Predicate>,
}

/// Splits a sentence into clauses and finds their completed verbs.
pub(crate) fn clauses(
    tokens: &[Token],
    sentences: &[Sentence],
    index: usize,
    out: &mut Vec<Clause>,
) {
    let Some(sentence) = sentences.get(index) else { return };
    if sentence.foreign {
        let whole = Clause::new(tokens, index, sentence.tokens.clone());
        out.extend(whole.map(|clause| Clause { mood: Mood::Foreign, ..clause }));
        return;
    }
    let first = out.len();
    split(tokens, sentence, index, out);
    let start = sentence.tokens.start;
    let mut context = Context { start, reach: start, ..Context::default() };
    for clause in out.get_mut(first..).unwrap_or_default() {
        context.read(tokens, sentence, clause);
    }
}

/// Adds the clauses of a sentence, not yet analysed.
fn split(tokens: &[Token], sentence: &Sentence, index: usize, out: &mut Vec<Clause>) {
    let mut from = sentence.tokens.start;
    for at in sentence.tokens.clone() {
        if at > from && starts_clause(tokens, sentence, at) {
            out.extend(Clause::new(tokens, index, from..at));
            from = at;
        }
    }
    out.extend(Clause::new(tokens, index, from..sentence.tokens.end));
}

impl Clause {
    /// Creates a clause from a range of a sentence, before it is analysed.
    pub(super) fn new(tokens: &[Token], sentence: usize, range: Range<usize>) -> Option<Self> {
        let words = tokens.get(range.clone())?;
        let (head, last) = (words.first()?, words.last()?);
        let (mut tags, mut marks, mut kinds) =
            (Tags::default(), Marks::default(), Kinds::default());
        for token in words {
            marks = marks.and(token.mark);
            kinds = kinds.or(Kinds::new(token));
            if !token.quoted {
                tags = tags.or(token.tags);
            }
        }
        Some(Self {
            sentence,
            tokens: range,
            span: Span::new(head.start as usize, last.end as usize),
            tags,
            marks,
            kinds,
            mood: Mood::Asserted,
            predicates: Vec::new(),
        })
    }

    /// Whether one of these words may occur in it: a fast check before a thorough one.
    #[inline]
    pub(crate) fn may_hold(&self, words: &Words) -> bool {
        words.may_meet(self.marks)
    }
}

impl Context {
    /// Determines the mood of a clause and its completed verbs.
    fn read(&mut self, tokens: &[Token], sentence: &Sentence, clause: &mut Clause) {
        let range = clause.tokens.clone();
        clause.mood = self.mood_of(tokens, sentence, &range);
        let inserted = tokens.get(range.start).is_some_and(|t| t.is(')') || t.is(','));
        if !inserted {
            self.reach = range.start;
        }
        clause.predicates = predicates(tokens, &range, sentence.tokens.end, self);
        let verbal = !clause.predicates.is_empty() || has_verb(tokens, &range);
        // "Sure, I cancelled it", "As requested, …": a word or two that govern nothing.
        let opens = range.start == self.start && range.len() <= 2 && clause.mood == Mood::Asserted;
        let comma = tokens.get(range.end).is_some_and(|t| t.is(','));
        let words = tokens.get(range.clone()).unwrap_or_default();
        let leads = range.start == self.start && only_leads(words, tokens.get(range.end + 1));
        if comma && (opens && !verbal || leads) {
            self.mood = None;
        }
        if verbal || (opens && comma) {
            self.reach = range.end;
        }
    }
}
