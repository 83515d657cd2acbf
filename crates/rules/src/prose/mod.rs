//! Text to clauses: Markdown and JSON aware, spans into the original bytes at every step.

mod blocks;
mod clause;
mod lexicon;
mod predicate;
mod sentences;
mod tokens;

pub(crate) use blocks::{Block, BlockKind, blocks};
pub(crate) use clause::{Clause, Mood, clauses};
pub(crate) use lexicon::{Action, Lexicon, Tags};
pub(crate) use predicate::{Predicate, Subject, Voice};
pub(crate) use sentences::{Sentence, sentences};
pub(crate) use tokens::{Token, TokenKind};

use std::ops::Range;

/// A text taken apart.
#[derive(Debug)]
pub(crate) struct Prose<'t> {
    /// The whole text; every span indexes it.
    pub(crate) text: &'t str,
    /// Headings, paragraphs, list items, cells, code.
    pub(crate) blocks: Vec<Block>,
    /// Sentences, in order.
    pub(crate) sentences: Vec<Sentence>,
    /// Tokens, in order.
    pub(crate) tokens: Vec<Token>,
    /// Clauses, in order.
    pub(crate) clauses: Vec<Clause>,
}

impl<'t> Prose<'t> {
    /// Takes a text apart. Linear in its length.
    pub(crate) fn read(text: &'t str) -> Self {
        let lexicon = Lexicon::english();
        let blocks = blocks(text);
        let mut prose = Self {
            text,
            blocks: Vec::new(),
            sentences: Vec::new(),
            tokens: Vec::with_capacity(text.len() / 5),
            clauses: Vec::new(),
        };
        for (index, block) in blocks.iter().enumerate() {
            if block.kind.is_prose() {
                sentences(text, index, block, lexicon, &mut prose.tokens, &mut prose.sentences);
            }
        }
        prose.blocks = blocks;
        for index in 0..prose.sentences.len() {
            clauses(&prose.tokens, &prose.sentences, index, &mut prose.clauses);
        }
        prose
    }

    /// The tokens of a range; empty when it is out of bounds.
    pub(crate) fn tokens(&self, range: Range<usize>) -> &[Token] {
        self.tokens.get(range).unwrap_or_default()
    }

    /// The text of a token.
    pub(crate) fn word(&self, token: &Token) -> &'t str {
        token.span().of(self.text)
    }

    /// The block that a sentence stands in.
    pub(crate) fn block_of(&self, sentence: &Sentence) -> Option<&Block> {
        self.blocks.get(sentence.block)
    }
}
