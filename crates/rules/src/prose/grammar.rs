use std::ops::Range;

use super::forms::Forms;
use super::lexicon::Tags;
use super::predicate::Voice;
use super::tokens::{Token, TokenKind};

/// How a completed verb is put together in one language: `form active agent: have-first participle`.
///
/// Elements are groups of the lexicon, `a|b` for either. Between two elements may stand adverbs
/// and negations; where `...` stands, anything but another finite verb or action. `^` is the beginning
/// of the clause, `$` its end or a word that closes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// How it stands.
    pub(super) voice: Reading,
    elements: Vec<Element>,
    /// Which element is the verb.
    verb: usize,
}

/// What a pattern says of the verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The speaker did it.
    Own,
    /// It was done.
    Done(Voice),
    /// The words around it say who did it, if anybody.
    Open {
        /// The verb is a passive.
        passive: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Element {
    tags: Tags,
    forms: Forms,
    /// Anything may stand before it.
    gap: bool,
    edge: Option<Edge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

impl Pattern {
    /// Reads a line of a lexicon file: what stands before its colon and what behind it.
    pub(super) fn read(head: &str, rest: &str) -> Option<Self> {
        let voice = match head.strip_prefix("form ")?.trim() {
            "own" => Reading::Own,
            "open" => Reading::Open { passive: false },
            "open passive" => Reading::Open { passive: true },
            "perfect-passive" => Reading::Done(Voice::PerfectPassive),
            "past-passive" => Reading::Done(Voice::PastPassive),
            "state" => Reading::Done(Voice::State),
            "result" => Reading::Done(Voice::BareResult),
            _ => return None,
        };
        let mut elements = Vec::new();
        let (mut gap, mut verb) = (false, None);
        for word in rest.split_whitespace() {
            let mut element =
                Element { tags: Tags::default(), forms: Forms::NONE, gap, edge: None };
            match word {
                "..." => {
                    gap = true;
                    continue;
                }
                "^" => element.edge = Some(Edge::Start),
                "$" => element.edge = Some(Edge::End),
                groups => {
                    for group in groups.split('|') {
                        let form = match group {
                            "base" => (Some(Tags::BASE), None),
                            "participle" => (Some(Tags::PARTICIPLE), None),
                            group => (Tags::of_group(group), Forms::of_group(group)),
                        };
                        if form == (None, None) {
                            return None;
                        }
                        element.tags = element.tags.or(form.0.unwrap_or_default());
                        element.forms = element.forms.or(form.1.unwrap_or_default());
                    }
                    if element.is_verb() {
                        verb = Some(elements.len());
                    }
                }
            }
            elements.push(element);
            gap = false;
        }
        Some(Self { voice, elements, verb: verb? })
    }

    /// Where the pattern stands around the verb at `at` within the clause.
    pub(super) fn stands(
        &self,
        tokens: &[Token],
        clause: &Range<usize>,
        at: usize,
    ) -> Option<Range<usize>> {
        let verb = self.elements.get(self.verb)?;
        if !verb.fits(tokens.get(at)?) {
            return None;
        }
        let mut start = at;
        let mut gap = verb.gap;
        for element in self.elements.get(..self.verb)?.iter().rev() {
            start = element.before(tokens, clause.start, start, gap)?;
            gap = element.gap;
        }
        let mut end = at + 1;
        for element in self.elements.get(self.verb + 1..)? {
            end = element.behind(tokens, clause.end, end)?;
        }
        Some(start..end)
    }
}

impl Element {
    fn is_verb(&self) -> bool {
        self.tags.any(Tags::BASE.or(Tags::PARTICIPLE))
            || self.forms.any(Forms::PAST_FIRST.or(Forms::PAST_THIRD))
    }

    fn fits(&self, token: &Token) -> bool {
        token.has(self.tags) || token.is_form(self.forms)
    }

    /// Where the element stands before `end`.
    fn before(&self, tokens: &[Token], start: usize, end: usize, gap: bool) -> Option<usize> {
        let mut moved = false;
        for at in (start..end).rev() {
            let token = tokens.get(at)?;
            if self.edge.is_none() && self.fits(token) {
                return Some(at);
            }
            moved |= is_moved(token);
            let leads = token.has(Tags::COORDINATE) || matches!(token.kind, TokenKind::Symbol(_));
            if !(is_transparent(token)
                || self.edge == Some(Edge::Start) && leads
                || gap && !is_barrier(token, moved))
            {
                return None;
            }
        }
        (self.edge == Some(Edge::Start)).then_some(start)
    }

    /// Where the element, which stands behind `start`, ends.
    fn behind(&self, tokens: &[Token], end: usize, start: usize) -> Option<usize> {
        for at in start..end {
            let token = tokens.get(at)?;
            if self.edge == Some(Edge::End) && token.is_form(Forms::CLOSING) {
                return Some(at);
            }
            if self.edge.is_none() && self.fits(token) {
                return Some(at + 1);
            }
            let ends = self.edge == Some(Edge::End) && matches!(token.kind, TokenKind::Symbol(_));
            if !(ends || is_transparent(token) || self.gap && !is_barrier(token, false)) {
                return None;
            }
        }
        (self.edge == Some(Edge::End)).then_some(end)
    }
}

/// Words that stand between the parts of a verb without being one.
pub(super) fn is_transparent(token: &Token) -> bool {
    let adverbs = Tags::ADVERB.or(Tags::SUCCESS).or(Tags::NOW).or(Tags::EARLIER);
    token.has(adverbs.or(Tags::NEGATION)) && token.verb.is_none()
}

/// Words that carry person and tense.
pub(super) fn is_finite(token: &Token) -> bool {
    token.has(Tags::HAVE.or(Tags::BE).or(Tags::PAST_BE).or(Tags::MODAL))
        || token.is_form(
            Forms::HAVE_FIRST.or(Forms::HAVE_ALONE).or(Forms::PAST_FIRST).or(Forms::PAST_THIRD),
        )
}

/// "把", "将": an object moved before its verb, which may be named by a verb.
fn is_moved(token: &Token) -> bool {
    token.is_form(Forms::OBJECT_MARK)
}

/// What no gap goes over.
fn is_barrier(token: &Token, moved: bool) -> bool {
    is_finite(token)
        || token.is(';')
        || token.is('；')
        || (token.verb.is_some() && token.noun.is_none() && !token.quoted && !moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let read = Pattern::read("form own", " have-first ... participle").unwrap();
        assert_eq!((read.voice, read.elements.len(), read.verb), (Reading::Own, 2, 1));
        assert!(read.elements[1].gap && !read.elements[0].gap);
        for (head, rest) in [
            ("form own", "have-first"),
            ("form whole", "participle"),
            ("form own", "nonsense participle"),
        ] {
            assert_eq!(Pattern::read(head, rest), None, "{head}: {rest}");
        }
    }
}
