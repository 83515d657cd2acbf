use super::adverbial::{date, unjoin};
use super::agenda::agenda;
use super::blocks::blocks;
use super::clause::clauses;
use super::draft::drafted;
use super::language::{is_foreign, is_suspect};
use super::sentences::sentences;
use super::shouting::lower_shouted;
use super::{BlockKind, Prose};

impl<'t> Prose<'t> {
    /// Parses a text. Linear in its length.
    pub(crate) fn read(text: &'t str) -> Self {
        let blocks = blocks(text);
        let mut prose = Self {
            text,
            shows_code: blocks.iter().any(|block| block.kind == BlockKind::Code),
            blocks,
            sentences: Vec::with_capacity(text.len() / 48),
            tokens: Vec::with_capacity(text.len() / 4),
            clauses: Vec::with_capacity(text.len() / 24),
            agenda: Vec::new(),
            drafted: Vec::new(),
        };
        prose.split();
        if is_suspect(text, &prose.tokens) {
            prose.mark_foreign();
        }
        for index in 0..prose.sentences.len() {
            clauses(&prose.tokens, &prose.sentences, index, &mut prose.clauses);
        }
        prose.agenda = agenda(&prose);
        prose.drafted = drafted(&prose);
        prose
    }

    fn split(&mut self) {
        let (tokens, out) = (&mut self.tokens, &mut self.sentences);
        for (index, block) in self.blocks.iter().enumerate().filter(|(_, b)| b.kind.is_prose()) {
            sentences(self.text, index, block.span, tokens, out);
        }
        unjoin(self.text, tokens);
        date(self.text, tokens);
        for sentence in out {
            lower_shouted(self.text, tokens, &sentence.tokens);
        }
    }

    /// Finds the sentences in languages other than English.
    fn mark_foreign(&mut self) {
        let main = is_foreign(self.text, false);
        for sentence in &mut self.sentences {
            let tokens = self.tokens.get(sentence.tokens.clone()).unwrap_or_default();
            let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { continue };
            let words = self.text.get(first.start as usize..last.end as usize);
            sentence.foreign = is_foreign(words.unwrap_or_default(), main);
        }
    }
}
