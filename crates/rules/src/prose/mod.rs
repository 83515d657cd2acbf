//! Parses text into clauses. It understands Markdown and JSON, and keeps spans into the original
//! bytes at every step.

#[macro_use]
mod lexicon;
#[macro_use]
mod words;

mod adverbial;
mod agenda;
mod block;
mod blocks;
mod boundary;
mod classify;
mod clause;
mod completed;
mod draft;
mod earlier;
mod fence;
mod fields;
mod language;
mod mood;
mod of_a_text;
mod predicate;
mod read;
mod sentences;
pub(crate) mod sets;
mod shouting;
mod telling;
mod token;
mod tokens;
mod unasserted;

pub(crate) use agenda::is_agenda;
pub(crate) use block::{Block, BlockKind};
pub(crate) use classify::has_file_extension;
pub(crate) use clause::Clause;
pub(crate) use draft::is_in_draft;
pub(crate) use earlier::{names_earlier_time, names_session};
pub use fence::Fence;
pub(crate) use fields::name_of_field;
pub(crate) use lexicon::{Action, Lexicon, Tags};
pub(crate) use mood::Mood;
pub(crate) use of_a_text::is_of_a_text;
pub(crate) use predicate::{Predicate, Subject, Voice};
pub(crate) use sentences::Sentence;
pub(crate) use token::{Kinds, Token, TokenKind};
#[cfg(test)]
pub(crate) use unasserted::UNASSERTED;
pub(crate) use unasserted::{asserted, unasserted};
pub(crate) use words::Words;

use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Object, Span};

/// A span without the punctuation and markup at its ends.
pub(crate) fn unmarked(text: &str, span: Span) -> Span {
    const LEAD: [char; 18] = [
        ',', ';', ':', '(', ')', '—', '–', '-', ' ', '\n', '*', '，', '；', '：', '、', '（', '）',
        '\t',
    ];
    let words = span.slice(text);
    let trimmed = words.trim_start_matches(LEAD);
    let start = span.start + words.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches([' ', ',', '，', '、', '\n', '*', ';', '(']);
    Span::new(start, start + trimmed.len())
}

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Prose<'t> {
    /// The whole text. All spans refer to it.
    pub(crate) text: &'t str,
    /// Headings, paragraphs, list items, cells, code.
    pub(crate) blocks: Vec<Block>,
    /// Sentences, in order.
    pub(crate) sentences: Vec<Sentence>,
    /// Tokens, in order.
    pub(crate) tokens: Vec<Token>,
    /// Clauses, in order.
    pub(crate) clauses: Vec<Clause>,
    /// Whether a code block is shown.
    pub(crate) shows_code: bool,
    /// For each sentence, whether it is part of an agenda: something to be done or achieved.
    agenda: Vec<bool>,
    /// For each sentence, whether it is part of a text for someone to use.
    drafted: Vec<bool>,
}

impl<'t> Prose<'t> {
    /// The tokens of a range; empty when it is out of bounds.
    pub(crate) fn tokens(&self, range: Range<usize>) -> &[Token] {
        self.tokens.get(range).unwrap_or_default()
    }

    /// The text of a token.
    pub(crate) fn word(&self, token: &Token) -> &'t str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    /// The bytes of a token, which are cheaper to compare than its text.
    #[inline]
    pub(crate) fn bytes(&self, token: &Token) -> &'t [u8] {
        let place = token.start as usize..token.end as usize;
        self.text.as_bytes().get(place).unwrap_or_default()
    }

    /// Whether a token is a capitalised word with no other meaning: a name.
    pub(crate) fn is_name(&self, token: &Token) -> bool {
        let word = self.word(token);
        token.kind == TokenKind::Word
            && token.capital
            && !token.quoted
            && token.tags.is_empty()
            && token.verb.is_none()
            && token.noun.is_none()
            && word.len() >= 3
            && word.bytes().skip(1).all(|b| b.is_ascii_lowercase())
    }

    /// Whether the word says that the number after it is not exact: "about 40".
    pub(crate) fn is_rough(&self, token: &Token) -> bool {
        self.is(token, &sets::NOT_EXACT)
    }

    /// Whether a token is one of these words, ignoring case.
    #[inline]
    pub(crate) fn is(&self, token: &Token, known: &Words) -> bool {
        // Called for nearly every word by nearly every rule, so the mark is checked first.
        known.may_hold(token.mark) && known.hold(self.bytes(token))
    }

    /// Whether a token is this word, ignoring case.
    pub(crate) fn is_word(&self, token: &Token, known: &str) -> bool {
        self.bytes(token).eq_ignore_ascii_case(known.as_bytes())
    }

    /// The words of a range of tokens, without the punctuation and the conjunctions at either end,
    /// which belong to the whole sentence.
    pub(crate) fn quotable(&self, range: Range<usize>) -> Option<Span> {
        let joins = |t: &Token| t.is(',') || self.is(t, words!["and", "but"]);
        let tokens = self.tokens(range);
        let first = tokens.iter().find(|t| !joins(t))?;
        // "… and then": the word before the next clause.
        let last = tokens.iter().rfind(|t| !joins(t) && !self.is(t, words!["then"]))?;
        Some(unmarked(self.text, Span::new(first.start as usize, last.end as usize)))
    }

    /// The claim of a clause.
    pub(crate) fn claim(
        &self,
        clause: &Clause,
        kind: ClaimKind,
        objects: Vec<Object>,
        turn: usize,
    ) -> Claim {
        let span = self.quotable(clause.tokens.clone()).unwrap_or(clause.span);
        self.claim_at(span, kind, objects, turn)
    }

    /// The claim that the text of a span makes.
    pub(crate) fn claim_at(
        &self,
        span: Span,
        kind: ClaimKind,
        objects: Vec<Object>,
        turn: usize,
    ) -> Claim {
        Claim { kind, text: span.slice(self.text).to_owned(), objects, span, turn }
    }

    /// The tokens before a token in its sentence.
    pub(crate) fn before_in_sentence(&self, token: usize) -> &[Token] {
        let at = self.sentences.partition_point(|sentence| sentence.tokens.end <= token);
        let start = self.sentences.get(at).map_or(token, |sentence| sentence.tokens.start);
        self.tokens(start..token)
    }

    /// The tokens of the sentence that contains a clause.
    pub(crate) fn sentence_of(&self, clause: &Clause) -> &[Token] {
        let sentence = self.sentences.get(clause.sentence);
        sentence.map_or(&[], |sentence| self.tokens(sentence.tokens.clone()))
    }

    /// The block that contains a sentence.
    pub(crate) fn block_of(&self, sentence: &Sentence) -> Option<&Block> {
        self.blocks.get(sentence.block)
    }
}
