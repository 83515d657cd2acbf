use std::ops::Range;

use crate::prose::{BlockKind, Clause, Predicate, Prose, Tags, Token};

/// A noun phrase that may be a tool.
pub(super) struct Thing {
    pub(super) name: String,
    pub(super) noun: String,
    pub(super) tokens: Range<usize>,
}

impl Thing {
    pub(super) fn is_loud(&self, prose: &Prose<'_>, clause: &Clause) -> bool {
        let loud = |t: &Token| !prose.word(t).contains(|c: char| c.is_lowercase() || c == '_');
        let verb = |p: &Predicate| prose.tokens.get(p.verb).is_some_and(loud);
        !self.noun.is_empty()
            && prose.tokens(self.tokens.clone()).iter().all(loud)
            && clause.predicates.iter().any(verb)
    }

    /// "Using the X service.": whether an answer consists of these words.
    pub(super) fn is_alone(&self, prose: &Prose<'_>) -> bool {
        let ([_], [block]) = (&*prose.sentences, &*prose.blocks) else { return false };
        let (before, after) = prose.tokens.split_at(self.tokens.end.min(prose.tokens.len()));
        let mut words = before.iter().filter(|t| !t.has(Tags::DETERMINER));
        block.kind == BlockKind::Paragraph
            && self.is_named_service()
            && words.next().is_some_and(|t| t.has(Tags::GERUND))
            && words.count() == self.tokens.len()
            && after.iter().all(|t| t.is('.'))
    }

    /// Whether it is a tool, service or interface with a proper name: "the FactChecker API".
    pub(super) fn is_named_service(&self) -> bool {
        let nouns = ["tool", "tools", "service", "services", "api", "apis"];
        nouns.contains(&self.noun.as_str())
    }
}

/// A name without parentheses and quotes.
pub(super) fn bare_name(word: &str) -> &str {
    word.split('(').next().unwrap_or(word).trim_matches(['"', '\'', '`'])
}
