//! The mood of a clause: whether the agent asserts it, and who does otherwise.

use std::ops::Range;

use super::lexicon::Tags;
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
            Some(_)
                if self
                    .mood
                    .filter(|mood| may_end(*mood))
                    .is_some_and(|mood| is_told_anew(mood, tokens, sentence, range)) =>
            {
                Mood::Asserted
            }
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
            _ if head.has(Tags::REQUEST) && head.has(Tags::BASE.or(Tags::INTEND)) => {
                Mood::Unrealised
            }
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

/// Whether what follows may be told by the speaker again.
fn may_end(mood: Mood) -> bool {
    matches!(mood, Mood::Attributed | Mood::Observed | Mood::Unrealised)
}

/// "You asked for it, so I cancelled order W1", "I could wait, but I cancelled W1", "I can confirm that
/// I cancelled W1": whether the clause says what the speaker did to something that it names, whatever
/// the sentence said before. Someone else's words may go on in the first person, so that only these
/// forms count.
fn is_told_anew(mood: Mood, tokens: &[Token], sentence: &Sentence, range: &Range<usize>) -> bool {
    let before = tokens.get(sentence.tokens.start..range.start).unwrap_or_default();
    let words = tokens.get(range.clone()).unwrap_or_default();
    let rest = tokens.get(range.start..sentence.tokens.end).unwrap_or_default();
    let mut lead = words.iter().filter(|t| t.kind == TokenKind::Word);
    let Some(first) = lead.next() else { return false };
    let led = match () {
        () if first.has(Tags::RESULT) => mood != Mood::Unrealised && is_of_user(before),
        () if first.has(Tags::ADVERSATIVE) => mood == Mood::Unrealised && is_of_agent(before),
        () => first.has(Tags::RELATIVE) && is_assurance(before),
    };
    let own = first.has(Tags::AGENT)
        || lead.find(|t| !t.has(Tags::ADVERB)).is_some_and(|t| t.has(Tags::AGENT));
    let unsure = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::PURPOSE);
    led && own
        && words.iter().any(is_particular)
        && !words.iter().any(|t| t.has(unsure) || t.quoted && t.kind == TokenKind::Word)
        && !rest.iter().any(|t| t.has(Tags::CONDITIONAL))
        && !before.iter().any(|t| t.is(':') || t.quoted)
}

/// Whether a token names one thing: an id, a file, an address.
fn is_particular(t: &Token) -> bool {
    use TokenKind as K;
    matches!(t.kind, K::Id | K::Path | K::Code | K::Identifier | K::Email | K::Url)
        || t.has(Tags::TOOL_NOUN)
}

/// "You asked me to, so …": what the user asked for, in no words of the user's own.
fn is_of_user(before: &[Token]) -> bool {
    let others = Tags::RELATIVE.or(Tags::MODAL).or(Tags::HEDGE).or(Tags::AGENT_OWN).or(Tags::THIRD);
    let asked = |at: usize| before.get(at).is_some_and(|t| t.has(Tags::REQUEST));
    before.first().is_some_and(|t| t.has(Tags::USER))
        && before.iter().enumerate().all(|(at, t)| {
            !t.has(others) && (!t.has(Tags::AGENT) || at.checked_sub(1).is_some_and(asked))
        })
}

/// "I could wait, but …": what the agent would do, not what it would say.
fn is_of_agent(before: &[Token]) -> bool {
    let said = Tags::REPORT.or(Tags::ASSURE).or(Tags::HEDGE).or(Tags::RELATIVE);
    before.first().is_some_and(|t| t.has(Tags::AGENT)) && !before.iter().any(|t| t.has(said))
}

/// "As you asked,", "As requested,", "As I said,": whether the beginning of a sentence leads to what
/// the speaker tells, rather than to what others say.
pub(super) fn only_leads(words: &[Token]) -> bool {
    let mut words = words.iter().filter(|t| t.kind == TokenKind::Word);
    let first = words.next();
    let small = Tags::AGENT.or(Tags::ADVERB).or(Tags::HAVE).or(Tags::PREPOSITION).or(Tags::EARLIER);
    let told = |t: &Token| t.has(Tags::REPORT);
    let (mut by_user, mut asked, mut tells) = (false, false, 0);
    let plain = words.all(|t| {
        by_user |= t.has(Tags::USER);
        asked |= t.has(Tags::REQUEST);
        tells += usize::from(told(t));
        // "above", "earlier"
        let place = tells == 1 && !t.capital && t.tags.is_empty() && t.noun.is_none();
        told(t) || t.has(small) || t.has(Tags::USER) || place
    });
    let opens = |t: &Token| t.has(Tags::SUBORDINATE) && !t.has(Tags::CONDITIONAL);
    first.is_some_and(opens) && plain && tells == 1 && (asked || !by_user)
}

/// "I can confirm", "I must inform you"
fn is_assurance(before: &[Token]) -> bool {
    let mut told = before.iter();
    let plain = Tags::ASSURE.or(Tags::ADVERB);
    told.next().is_some_and(|t| t.has(Tags::AGENT))
        && told.next_back().is_some_and(|last| last.has(Tags::ASSURE) || last.has(Tags::USER))
        && told.all(|t| t.has(plain))
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
    let own = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::PREPOSITION);
    head.has(Tags::THING)
        && before(1).is_some_and(|last| {
            last.has(Tags::USER) || last.verb.is_some() && !before(2).is_some_and(|t| t.has(own))
        })
}
