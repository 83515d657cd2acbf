//! The mood of a clause: whether it is asserted, and by whom.

use std::ops::Range;

use super::clause::Context;
use super::lexicon::Tags;
use super::predicate::Subject;
use super::sentences::Sentence;
use super::tokens::{Token, TokenKind};

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

/// A clause in its sentence.
struct ClauseView<'t> {
    tokens: &'t [Token],
    sentence: &'t Sentence,
    range: &'t Range<usize>,
    /// Its first word.
    head: &'t Token,
    /// Whether it is the last clause of its sentence.
    last: bool,
    /// The mood that the previous clause gives it.
    pending: Option<Mood>,
}

impl Context {
    /// The mood of a clause, from the first reading that applies.
    pub(super) fn mood_of(
        &mut self,
        tokens: &[Token],
        sentence: &Sentence,
        range: &Range<usize>,
        last: bool,
    ) -> Mood {
        if self.examples {
            return Mood::Conditional;
        }
        let mut words = tokens.get(range.clone()).unwrap_or_default().iter();
        let Some(head) = words.find(|t| t.kind == TokenKind::Word) else {
            return self.mood.unwrap_or(Mood::Asserted);
        };
        let pending = self.pending.take();
        let clause = ClauseView { tokens, sentence, range, head, last, pending };
        self.of_that(&clause)
            .or_else(|| self.of_question(&clause))
            .or_else(|| clause.of_condition())
            .or_else(|| clause.of_relative())
            .or_else(|| self.of_the_clause_before(&clause))
            .or_else(|| self.of_a_condition_before(&clause))
            .or_else(|| clause.of_request())
            .unwrap_or_else(|| self.going_on(&clause))
    }

    /// "Now that it has been sent, …", "I was told that …", "let me tell you that …".
    fn of_that(&self, clause: &ClauseView<'_>) -> Option<Mood> {
        let ClauseView { tokens, sentence, range, head, .. } = *clause;
        if !head.has(Tags::RELATIVE) || !head.has(Tags::THING) {
            return None;
        }
        let now = tokens.get(sentence.tokens.start).is_some_and(|t| t.has(Tags::NOW));
        if now && range.start == sentence.tokens.start + 1 {
            return Some(Mood::Asserted);
        }
        if is_heard(tokens, self.start, range) {
            return Some(Mood::Attributed);
        }
        is_assured(tokens, self.start, range).then_some(Mood::Asserted)
    }

    fn of_question(&self, clause: &ClauseView<'_>) -> Option<Mood> {
        let asks = clause.starts_sentence() && clause.head.has(Tags::QUESTION);
        let declares = !clause.last && !asks && clause.any(|t| t.has(Tags::AGENT));
        (self.question && !declares).then_some(Mood::Question)
    }

    /// "You told me the order was sent": the mood that the previous clause gives this one.
    fn of_the_clause_before(&self, clause: &ClauseView<'_>) -> Option<Mood> {
        // "I noticed the mistake and corrected it": both are the speaker's actions.
        let joined = clause.first().is_some_and(|t| t.has(Tags::COORDINATE));
        let mut rest = clause.words().skip(1);
        let behind = rest.find(|t| !t.has(Tags::ADVERB.or(Tags::SUCCESS)));
        let own = matches!(&self.previous, Some((Subject::Agent | Subject::Nobody, _, _)))
            && behind.is_some_and(|t| t.verb.is_some() && t.has(Tags::COMPLETED));
        clause.pending.filter(|&pending| !(pending == Mood::Observed && joined && own))
    }

    /// "Once A and B, …": the condition covers both.
    fn of_a_condition_before(&self, clause: &ClauseView<'_>) -> Option<Mood> {
        if self.mood != Some(Mood::Conditional) {
            return None;
        }
        let ClauseView { tokens, sentence, range, head, .. } = *clause;
        // "as soon as it has been sent"
        let as_soon = head.has(Tags::SUBORDINATE) && head.has(Tags::PREPOSITION);
        let first = clause.first();
        let both = first.is_some_and(|t| t.has(Tags::COORDINATE) && !t.has(Tags::ADVERSATIVE))
            && !(self.dated && clause.has_subject());
        // "It is merged once A, B, and C": the condition also covers the items after it.
        let led = tokens.get(sentence.tokens.start).is_some_and(|t| t.has(Tags::CONDITIONAL));
        let rest = tokens.get(range.end..sentence.tokens.end).unwrap_or_default();
        let listed = !led
            && first.is_some_and(|t| t.is(','))
            && !clause.any(|t| t.has(Tags::AGENT))
            && rest.iter().any(|t| t.has(Tags::COORDINATE));
        (as_soon || both || listed).then_some(Mood::Conditional)
    }

    /// A clause that continues in the previous mood: "…, cancelled, and refunded".
    fn going_on(&self, clause: &ClauseView<'_>) -> Mood {
        let opening = clause.first().is_some_and(|t| matches!(t.kind, TokenKind::Symbol(_)));
        let goes_on = opening || clause.head.has(Tags::COORDINATE);
        match self.mood {
            Some(mood) if goes_on && !clause.has_subject() && mood != Mood::Conditional => mood,
            _ => Mood::Asserted,
        }
    }
}

impl<'t> ClauseView<'t> {
    fn words(&self) -> impl Iterator<Item = &'t Token> + use<'t> {
        self.tokens.get(self.range.clone()).unwrap_or_default().iter()
    }

    fn any(&self, holds: impl Fn(&Token) -> bool) -> bool {
        self.words().any(holds)
    }

    fn first(&self) -> Option<&'t Token> {
        self.tokens.get(self.range.start)
    }

    /// The token this number of places before it.
    fn before(&self, places: usize) -> Option<&'t Token> {
        self.range.start.checked_sub(places).and_then(|at| self.tokens.get(at))
    }

    fn starts_sentence(&self) -> bool {
        self.range.start == self.sentence.tokens.start
    }

    fn has_subject(&self) -> bool {
        let person = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING);
        let own = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
        self.any(|t| t.has(person.or(own)))
    }

    /// "If it was sent, …", "Had I deleted it, …", "or it has been deleted".
    fn of_condition(&self) -> Option<Mood> {
        let starts = self.starts_sentence();
        if self.head.has(Tags::CONDITIONAL) || (starts && is_inverted(self.words())) {
            return Some(Mood::Conditional);
        }
        // "Either I put it back or …": one of several alternatives.
        let mut behind = self.words().skip_while(|t| !t.has(Tags::ALTERNATIVE)).skip(1);
        let chosen = behind.next().is_some_and(|t| t.has(Tags::AGENT));
        let one_of = self.head.has(Tags::ALTERNATIVE) && (!starts || chosen);
        one_of.then_some(Mood::Unrealised)
    }

    /// "…, which I have committed", "confirmed that …", "the order that …".
    fn of_relative(&self) -> Option<Mood> {
        let head = self.head;
        if !head.has(Tags::RELATIVE) {
            return None;
        }
        // Adds information about the noun, rather than identifying it.
        let comma = |t: &Token| t.is(',');
        let apart = self.first().is_some_and(comma) || self.before(1).is_some_and(comma);
        let spoken = self.words().skip_while(|t| !t.has(Tags::RELATIVE)).nth(1);
        if !head.has(Tags::THING) && apart && spoken.is_some_and(|t| t.has(Tags::AGENT)) {
            return Some(self.pending.unwrap_or(Mood::Asserted));
        }
        if self.starts_sentence() {
            return None;
        }
        let otherwise = if self.completes() { Mood::Asserted } else { Mood::Relative };
        Some(self.pending.unwrap_or(otherwise))
    }

    /// "inform you that …", "confirmed that …": whether the clause completes a verb; not in "the
    /// order that …".
    fn completes(&self) -> bool {
        let own = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
        let Some(last) = self.before(1).filter(|_| self.head.has(Tags::THING)) else {
            return false;
        };
        let is = |tags: Tags| self.before(2).is_some_and(|t| t.has(tags));
        last.has(Tags::USER.or(Tags::THIRD))
            || (last.has(Tags::ANNOUNCE) && is(Tags::PREPOSITION))
            || (last.verb.is_some() && !is(own.or(Tags::PREPOSITION)))
    }

    /// "Please confirm that …", "maybe it was sent".
    fn of_request(&self) -> Option<Mood> {
        let begins = self.starts_sentence() || self.first().is_some_and(|t| t.is(';'));
        let asks =
            self.head.has(Tags::REQUEST) && begins && self.head.has(Tags::BASE.or(Tags::INTEND));
        (asks || self.any(|t| t.has(Tags::HEDGE))).then_some(Mood::Unrealised)
    }
}

/// "I was told that …": whether someone else said it.
fn is_heard(tokens: &[Token], start: usize, range: &Range<usize>) -> bool {
    let led = tokens.get(start..range.start).unwrap_or_default();
    let [.., who, be, verb] = led else { return false };
    who.has(Tags::AGENT)
        && be.tags.any(Tags::BE.or(Tags::PAST_BE))
        && verb.tags.any(Tags::REPORT.or(Tags::ASSURE).or(Tags::ANNOUNCE))
        && verb.tags.any(Tags::COMPLETED.or(Tags::ASSURE))
}

/// "I wanted to let you know that …", "Please be aware that …": whether the speaker asserts what
/// follows.
fn is_assured(tokens: &[Token], start: usize, range: &Range<usize>) -> bool {
    let led = tokens.get(start..range.start).unwrap_or_default();
    let open = Tags::NEGATION.or(Tags::THIRD).or(Tags::CONDITIONAL);
    let lead = Tags::AGENT.or(Tags::REQUEST).or(Tags::BASE).or(Tags::INTEND).or(Tags::THING);
    let told = led.first().is_some_and(|t| t.has(Tags::USER));
    // "let me tell you that"
    let to_user = led.last().is_some_and(|t| t.has(Tags::USER));
    let at = led.len().checked_sub(1 + usize::from(to_user));
    let before = at.and_then(|at| led.get(at.checked_sub(1)?));
    // "I would like to know that", "I was told that": the speaker is the listener.
    let assures = |t: &Token| {
        t.has(Tags::ASSURE)
            && (!t.has(Tags::REPORT) || to_user)
            && (!t.has(Tags::PERCEIVE) || before.is_some_and(|b| b.has(Tags::USER)))
    };
    at.and_then(|at| led.get(at)).is_some_and(assures)
        && led.len() <= 9
        && !told
        && !led.iter().any(|t| t.has(open))
        && (led.len() <= 2 || led.iter().any(|t| t.has(lead)))
}

/// "Had I deleted it, …": whether the verb comes before its subject without a question.
fn is_inverted<'t>(mut words: impl Iterator<Item = &'t Token>) -> bool {
    let pronoun = Tags::AGENT.or(Tags::USER).or(Tags::THIRD);
    words.next().is_some_and(|t| t.has(Tags::HAVE) && t.has(Tags::CAUSED))
        && words.next().is_some_and(|t| t.has(pronoun.or(Tags::THING).or(Tags::DETERMINER)))
}
