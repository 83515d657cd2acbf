//! Clauses of languages other than English: one mechanism, whose words and patterns are data.
//!
//! It reads less than the English one and asserts less: a clause with any sign of doubt, of a
//! wish, of a condition or of somebody else's words makes no claim.

use std::ops::Range;

use super::clause::{Clause, Mood};
use super::forms::Forms;
use super::grammar::is_finite;
use super::lexicon::Tags;
use super::other_predicates::predicates;
use super::predicate::{Subject, Voice};
use super::sentences::Sentence;
use super::tokens::{Token, TokenKind};
use super::vocabulary::Vocabulary;

/// A sentence of more tokens is no sentence: it is not read, so that reading stays linear.
const LONGEST_SENTENCE: usize = 400;

/// Splits a sentence into clauses and finds their completed verbs.
pub(super) fn other_clauses(
    tokens: &[Token],
    sentences: &[Sentence],
    index: usize,
    vocabulary: &Vocabulary,
    out: &mut Vec<Clause>,
) {
    let Some(sentence) = sentences.get(index) else { return };
    if sentence.tokens.len() > LONGEST_SENTENCE {
        return;
    }
    let ranges = split(tokens, &sentence.tokens, vocabulary);
    let mut carried = Carried::default();
    for (nth, range) in ranges.iter().enumerate() {
        let Some(clause) = Clause::of(tokens, index, range.clone()) else { continue };
        let asked = sentence.question && is_asked(tokens, &ranges, nth, vocabulary);
        let mood = if asked { Mood::Question } else { carried.mood(tokens, range, vocabulary) };
        let predicates = predicates(tokens, range, vocabulary, &mut carried);
        out.push(Clause { mood, predicates, ..clause });
    }
}

fn split(tokens: &[Token], range: &Range<usize>, vocabulary: &Vocabulary) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = range.start;
    // An auxiliary whose verb stands at the end of the clause: "habe die Bestellung storniert".
    let mut open = false;
    let mut complete = false;
    for at in range.clone() {
        let Some(token) = tokens.get(at) else { break };
        let behind_closing = at > from
            && tokens.get(at - 1).is_some_and(|t| t.is_form(Forms::CLOSING))
            && !token.is_form(Forms::CLOSING);
        let begins = begins_clause(tokens, at, vocabulary) || behind_closing;
        let said = |t: &Token| !matches!(t.kind, TokenKind::Symbol(_));
        let worded = tokens.get(from..at).unwrap_or_default().iter().any(said);
        if begins && worded && !(open && goes_on(tokens, at, range.end)) {
            ranges.push(from..at);
            from = at;
            (open, complete) = (false, false);
        }
        if !complete && is_finite(token) && !token.is_form(Forms::PAST_FIRST.or(Forms::PAST_THIRD))
        {
            open = true;
        }
        if token.has(Tags::PARTICIPLE) {
            (open, complete) = (false, true);
        }
    }
    if from < range.end {
        ranges.push(from..range.end);
    }
    ranges
}

fn begins_clause(tokens: &[Token], at: usize, vocabulary: &Vocabulary) -> bool {
    let Some(token) = tokens.get(at).filter(|t| !t.quoted) else { return false };
    if let TokenKind::Symbol(mark) = token.kind {
        return matches!(
            mark,
            ',' | ';'
                | ':'
                | '('
                | ')'
                | '—'
                | '–'
                | '-'
                | '→'
                | '，'
                | '；'
                | '：'
                | '（'
                | '）'
                | '、'
        );
    }
    if vocabulary.language.is_segmented() {
        return token.has(Tags::COORDINATE.or(Tags::ADVERSATIVE));
    }
    // "die" and "der" are relative only behind a comma, which begins the clause itself.
    token.has(Tags::COORDINATE.or(Tags::ADVERSATIVE).or(Tags::SUBORDINATE).or(Tags::CONDITIONAL))
        || token.is_form(Forms::COMPLEMENT)
}

/// Whether an open verb goes on over a comma or an "and": no other finite verb follows.
fn goes_on(tokens: &[Token], at: usize, end: usize) -> bool {
    let joins = tokens.get(at).is_some_and(|t| t.is(',') || t.has(Tags::COORDINATE));
    let rest = tokens.get(at + 1..end).unwrap_or_default();
    let rest = rest.split(|t| t.is(',') || t.has(Tags::COORDINATE)).next().unwrap_or_default();
    let opens = |t: &Token| {
        t.has(Tags::SUBORDINATE.or(Tags::CONDITIONAL).or(Tags::USER))
            || t.is_form(Forms::COMPLEMENT)
    };
    joins && !rest.iter().any(|t| is_finite(t) || opens(t))
}

/// Whether a clause of a question asks. What stands before the question may be told:
/// "I have cancelled it, anything else?"
fn is_asked(
    tokens: &[Token],
    ranges: &[Range<usize>],
    nth: usize,
    vocabulary: &Vocabulary,
) -> bool {
    let words = |range: &Range<usize>| {
        tokens.get(range.clone()).unwrap_or_default().iter().filter(|t| t.kind == TokenKind::Word)
    };
    let Some(last) = ranges.last() else { return true };
    let tag = words(last).count() < 4;
    let own = ranges.get(nth).is_some_and(|range| {
        let head = words(range).next();
        let asks = head.is_some_and(|t| t.has(Tags::QUESTION) || is_finite(t) && !is_own(t));
        vocabulary.language.is_segmented() || (words(range).any(is_own) && !asks)
    });
    nth + 1 == ranges.len() || tag || !own
}

fn is_own(token: &Token) -> bool {
    token.is_form(Forms::HAVE_FIRST.or(Forms::PAST_FIRST)) || token.has(Tags::AGENT)
}

/// What goes over from clause to clause of a sentence.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Everything behind is a condition, a report, a wish.
    mood: Option<Mood>,
    /// The clause before makes what follows it an assertion.
    declares: bool,
    /// Somebody else is the subject of what goes on.
    pub(super) another: bool,
    /// The verb before, for one that only joins it: "storniert und erstattet".
    pub(super) frame: Option<(Subject, Voice, bool)>,
}

impl Carried {
    fn mood(&mut self, tokens: &[Token], range: &Range<usize>, vocabulary: &Vocabulary) -> Mood {
        let words = tokens.get(range.clone()).unwrap_or_default();
        let has = |tags: Tags| words.iter().any(|t| t.has(tags));
        let declared = std::mem::take(&mut self.declares);
        if let Some(mood) = self.mood {
            return mood;
        }
        let lasting = [
            (Tags::CONDITIONAL, Mood::Conditional),
            (Tags::REPORT, Mood::Attributed),
            (Tags::PERCEIVE, Mood::Observed),
            (Tags::HEDGE, Mood::Unrealised),
            (Tags::REQUEST, Mood::Unrealised),
        ];
        if let Some(&(_, mood)) = lasting.iter().find(|&&(tags, _)| has(tags)) {
            self.mood = Some(mood);
            return mood;
        }
        let head = words.iter().find(|t| t.kind == TokenKind::Word);
        let behind_comma = words.first().is_some_and(|t| t.is(','));
        self.declares = words.iter().any(|t| t.is_form(Forms::DECLARE)) && !has(Tags::NEGATION);
        if head.is_some_and(|t| t.is_form(Forms::COMPLEMENT)) {
            return if declared { Mood::Asserted } else { Mood::Attributed };
        }
        // "die storniert wurde" describes, "die Bestellung wurde storniert" does not.
        let last = words.iter().rev().find(|t| t.kind == TokenKind::Word);
        let final_verb = last.is_some_and(is_finite);
        let related = head.is_some_and(|t| {
            t.has(Tags::RELATIVE) && (!t.has(Tags::DETERMINER) || (behind_comma && final_verb))
        });
        if related {
            return Mood::Relative;
        }
        if has(Tags::SUBORDINATE) {
            return Mood::Conditional;
        }
        if vocabulary.language.is_segmented() && has(Tags::QUESTION) {
            return Mood::Question;
        }
        if has(Tags::MODAL.or(Tags::INTEND).or(Tags::PURPOSE).or(Tags::ALTERNATIVE)) {
            return Mood::Unrealised;
        }
        // "who" and "which" inside a clause: what follows describes.
        if words.iter().any(|t| t.has(Tags::RELATIVE) && !t.has(Tags::DETERMINER)) {
            return Mood::Relative;
        }
        Mood::Asserted
    }
}
