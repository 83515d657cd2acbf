//! The mood of a clause: whether the agent asserts it, and who does otherwise.

use std::ops::Range;

use counterfoil_model::Family;

use super::lexicon::{Action, Tags};
use super::predicate::{Group, Subject};
use super::sentences::Sentence;
use super::token::{Token, TokenKind};

/// Whether a clause is asserted, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// The speaker asserts it.
    Asserted,
    /// It is a question.
    Question,
    /// It depends on a condition, or precedes something that has not happened.
    Conditional,
    /// Someone else says it: the user, a policy, a document.
    Attributed,
    /// It was observed while reading: a recorded state, not an action of the speaker.
    Observed,
    /// It describes a thing: "the order which has been cancelled".
    Relative,
    /// It is wished, required or guessed.
    Unrealised,
    /// It is in a language other than English, which no rule reads.
    Foreign,
}

/// Words that govern the rest of their sentence: what follows is not asserted.
const GOVERNS: [(Tags, Mood); 4] = [
    (Tags::REPORT, Mood::Attributed),
    (Tags::PERCEIVE, Mood::Observed),
    (Tags::PURPOSE, Mood::Unrealised),
    (Tags::MODAL, Mood::Unrealised),
];

/// What carries over from clause to clause within a sentence.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// The subject and the auxiliaries of the previous verb.
    pub(super) previous: Option<(Subject, Group, Range<usize>)>,
    /// The mood that the previous clause gives to the next one.
    pub(super) mood: Option<Mood>,
    /// The start of the sentence.
    pub(super) start: usize,
    /// How far back the subject of the clause may begin, skipping verbless insertions.
    pub(super) reach: usize,
}

impl Context {
    /// The mood of a clause. What is not asserted leaves the rest of its sentence unasserted: a
    /// claim must be plain.
    pub(super) fn mood_of(
        &mut self,
        tokens: &[Token],
        sentence: &Sentence,
        range: &Range<usize>,
    ) -> Mood {
        let words = tokens.get(range.clone()).unwrap_or_default();
        let mood = match words.iter().find(|t| t.kind == TokenKind::Word) {
            _ if sentence.question => Mood::Question,
            None => self.mood.unwrap_or(Mood::Asserted),
            Some(head) => self.own_mood(tokens, sentence, range, head),
        };
        let governs = |tag: Tags| {
            let mut found = (0..words.len())
                .filter(|at| words.get(*at).is_some_and(|t| !t.quoted && t.has(tag)));
            found.any(|at| !has_object(words, at))
        };
        let governed = GOVERNS.iter().find(|(tag, _)| governs(*tag)).map(|(_, mood)| *mood);
        self.mood = if mood == Mood::Asserted { governed.or(Some(mood)) } else { Some(mood) };
        mood
    }

    /// The mood by the first word of a clause, or else the mood of the clause before it.
    fn own_mood(
        &self,
        tokens: &[Token],
        sentence: &Sentence,
        range: &Range<usize>,
        head: &Token,
    ) -> Mood {
        let words = tokens.get(range.clone()).unwrap_or_default();
        let starts = range.start == sentence.tokens.start;
        let inverted = starts && head.has(Tags::HAVE) && head.has(Tags::CAUSED);
        match self.mood {
            _ if head.has(Tags::CONDITIONAL) || inverted => Mood::Conditional,
            _ if words.iter().any(|t| t.has(Tags::HEDGE)) => Mood::Unrealised,
            _ if head.has(Tags::ALTERNATIVE) && !starts => Mood::Unrealised,
            _ if head.has(Tags::REQUEST) && head.has(tags![BASE, INTEND]) => Mood::Unrealised,
            Some(mood) if mood != Mood::Asserted => mood,
            // "I did not say that I cancelled it"
            _ if head.has(Tags::RELATIVE) && !starts && is_denied(tokens, sentence, range) => {
                Mood::Unrealised
            }
            _ if head.has(Tags::RELATIVE) && !starts && !completes(tokens, range, head) => {
                Mood::Relative
            }
            _ => Mood::Asserted,
        }
    }
}

/// "As you asked,", "As requested,", "As I said,": whether the beginning of a sentence leads to what
/// the speaker tells, rather than to what others say. `next` is the first word after it.
pub(super) fn only_leads(words: &[Token], next: Option<&Token>) -> bool {
    let words: Vec<&Token> = words.iter().filter(|t| t.kind == TokenKind::Word).collect();
    if is_for_reader(&words, next) {
        return true;
    }
    let mut words = words.into_iter();
    let first = words.next();
    let small = tags![AGENT, ADVERB, HAVE, PREPOSITION, EARLIER];
    let reports = |t: &Token| t.has(Tags::REPORT);
    let (mut by_user, mut requested, mut tells) = (false, false, 0);
    let plain = words.all(|t| {
        by_user |= t.has(Tags::USER);
        requested |= t.has(Tags::REQUEST);
        tells += usize::from(reports(t));
        // "above", "earlier"
        let place = tells == 1 && !t.capital && t.tags.is_empty() && t.noun.is_none();
        reports(t) || t.has(small) || t.has(Tags::USER) || place
    });
    let opens = |t: &Token| t.has(Tags::SUBORDINATE) && !t.has(Tags::CONDITIONAL);
    first.is_some_and(opens) && plain && tells == 1 && (requested || !by_user)
}

/// "As you can see,", "As you would expect,", "If you look at the log, I …": what the reader knows, or
/// where to look, is no condition. "If you find a fault, I …" is one.
fn is_for_reader(words: &[&Token], next: Option<&Token>) -> bool {
    let [first, reader, rest @ ..] = words else { return false };
    let [between @ .., last] = rest else { return false };
    if !reader.has(Tags::USER) || rest.iter().any(|t| t.has(tags![NEGATION, REPORT])) {
        return false;
    }
    let looks = |t: &Token| {
        t.has(Tags::BASE)
            && !t.has(Tags::PERCEIVE)
            && matches!(t.verb, Some(Action::Of(Family::Read | Family::Search)))
    };
    let own = next.is_some_and(|t| t.has(Tags::AGENT));
    if first.has(Tags::CONDITIONAL) {
        return own && rest.first().is_some_and(|t| looks(t));
    }
    // "As you noticed, all tests pass": what the reader saw.
    let modal = between.iter().any(|t| t.has(Tags::MODAL));
    first.has(Tags::SUBORDINATE)
        && first.has(Tags::PREPOSITION)
        && between.iter().all(|t| t.has(tags![MODAL, ADVERB, HAVE]))
        && (last.has(Tags::PERCEIVE) && (modal || own) || last.has(Tags::HEDGE) && modal)
}

fn is_denied(tokens: &[Token], sentence: &Sentence, range: &Range<usize>) -> bool {
    let before = tokens.get(sentence.tokens.start..range.start).unwrap_or_default();
    before.iter().rev().take(4).any(|t| t.has(Tags::NEGATION))
}

/// "I wrote `notes.md`", "I noted the change": whether the speaker's own verb has a thing for its
/// object, and not what someone says.
fn has_object(words: &[Token], verb: usize) -> bool {
    let (before, after) = words.split_at_checked(verb).unwrap_or_default();
    let is_thing = |t: &Token| {
        matches!(t.kind, TokenKind::Code | TokenKind::Path | TokenKind::Identifier)
            || t.has(Tags::DETERMINER)
    };
    after.first().is_some_and(|t| t.has(Tags::COMPLETED))
        && before.iter().any(|t| t.has(Tags::AGENT))
        && after.get(1).is_some_and(is_thing)
}

/// "inform you that …", "confirmed that …": whether the clause completes a verb; not in "the order
/// that …".
fn completes(tokens: &[Token], range: &Range<usize>, head: &Token) -> bool {
    let before = |places: usize| range.start.checked_sub(places).and_then(|at| tokens.get(at));
    let own = tags![DETERMINER, USER_OWN, AGENT_OWN, PREPOSITION];
    head.has(Tags::THING)
        && before(1).is_some_and(|last| {
            last.has(Tags::USER) || last.verb.is_some() && !before(2).is_some_and(|t| t.has(own))
        })
}
