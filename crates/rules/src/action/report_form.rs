//! How a predicate reports an action: as done, in note form, or as a state.

use counterfoil_model::Family;

use crate::prose::{Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice, sets};

/// How a predicate reports an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportForm {
    /// As done by the speaker.
    Done,
    /// As done, in note form. In a list, such words may describe things.
    Noted,
    /// As the state of a thing.
    State,
}

/// How the predicate reports an action of the speaker, if it does.
pub(super) fn is_own(predicate: &Predicate, done: bool) -> Option<ReportForm> {
    match (predicate.voice, predicate.subject) {
        (Voice::Active, Subject::Agent) => Some(ReportForm::Done),
        (Voice::Active, _) => None,
        (Voice::State | Voice::PastPassive | Voice::PerfectPassive, Subject::Agent) => None,
        (Voice::PerfectPassive, _) => Some(ReportForm::Done),
        (Voice::PastPassive, _) => Some(ReportForm::Done),
        (Voice::State, _) => (predicate.emphatic || done).then_some(ReportForm::Done),
        (Voice::Bare | Voice::BareResult, _) => Some(ReportForm::Noted),
    }
}

/// "You're booked on it", "The change is committed": a state that only an action brings about, of
/// one thing, and without a condition.
pub(super) fn as_state(
    prose: &Prose<'_>,
    clause: &Clause,
    predicate: &Predicate,
    family: Family,
) -> Option<ReportForm> {
    let committed = matches!(family, Family::Commit | Family::Push);
    // "Your address is saved": about things in code, the same words would describe how they work.
    let own = prose.tokens(predicate.subject_tokens.clone()).iter().any(|t| t.has(Tags::USER_OWN));
    let made = own && matches!(family, Family::Create | Family::Update | Family::Delete);
    let subject = || prose.tokens(predicate.subject_tokens.clone()).iter();
    // "LR-705 is approved": about one thing, for which a call may have failed.
    let head = subject().take_while(|t| !t.has(Tags::PREPOSITION)).filter(|t| !t.is_mark()).last();
    let one = head.is_some_and(|t| t.kind == TokenKind::Id || is_proper(prose, t));
    let acts = made || one || came_by_act(prose, predicate, family);
    if !acts || predicate.voice != Voice::State || predicate.subject == Subject::Agent {
        return None;
    }
    // "You're still booked on it": unchanged.
    let lead = prose.tokens(predicate.verb.saturating_sub(2)..predicate.verb);
    if lead.iter().any(|t| prose.is(t, words!["still"])) {
        return None;
    }
    let object = prose.tokens(predicate.object_tokens.clone());
    // "each row is committed", "the change is committed every time": what happens in general.
    let rule = &sets::AS_A_RULE;
    // "The report is scheduled for every Monday" gives the time.
    let when = if family == Family::Book { &[] } else { object };
    if subject().chain(when).any(|t| !t.quoted && prose.is(t, rule)) {
        return None;
    }
    let particulars = tags![USER, USER_OWN, THING, DETERMINER];
    let numbered = |t: &Token| {
        matches!(
            t.kind,
            TokenKind::Id
                | TokenKind::Number
                | TokenKind::Identifier
                | TokenKind::Code
                | TokenKind::Path
        )
    };
    // "Changes are committed and pushed."
    let changes = committed
        && subject().any(|t| prose.is(t, words!["changes", "fixes", "updates", "edits"]))
        && object.first().is_none_or(|t| t.is_mark() || t.has(tags![COORDINATE, GOAL]));
    let both = committed && subject().any(|t| prose.is(t, words!["both"]));
    let particular = changes || both || subject().any(|t| t.has(particulars) || numbered(t)) || one;
    let first = prose.clauses.partition_point(|c| c.sentence < clause.sentence);
    let mut beside = prose.clauses.iter().skip(first).take_while(|c| c.sentence == clause.sentence);
    // "… is committed so that you can go on": a purpose is not a condition.
    let purpose = |c: &Clause| {
        c.tokens.start > predicate.verb
            && c.mood == Mood::Unrealised
            && prose.tokens(c.tokens.clone()).iter().take(2).any(|t| prose.is(t, words!["so"]))
    };
    let conditional = beside.any(|c| c.mood != Mood::Asserted && !purpose(c));
    (particular && !conditional).then_some(ReportForm::State)
}

/// A capitalised word that is not in the lexicon is a name.
fn is_proper(prose: &Prose<'_>, token: &Token) -> bool {
    token.kind == TokenKind::Word
        && token.capital
        && !token.quoted
        && token.tags.is_empty()
        && token.noun.is_none()
        && prose.word(token).len() > 2
}

/// "The change is committed": a state that only an action of this kind brings about.
pub(super) fn came_by_act(prose: &Prose<'_>, predicate: &Predicate, family: Family) -> bool {
    let verb = prose.tokens.get(predicate.verb);
    let confirmed = verb.is_some_and(|t| prose.word(t) == "confirmed");
    matches!(family, Family::Commit | Family::Push | Family::Book | Family::Deploy)
        || confirmed
        || is_all_set(prose, predicate)
}

/// "Your return is all set"
pub(super) fn is_all_set(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let before = predicate.verb.checked_sub(1).and_then(|at| prose.tokens.get(at));
    prose.tokens.get(predicate.verb).is_some_and(|t| prose.word(t) == "set")
        && before.is_some_and(|t| prose.is(t, words!["all"]))
}

/// "I've already refunded it": the speaker did it at some time in the session.
pub(super) fn is_own_already(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let own = predicate.voice == Voice::Active && predicate.subject == Subject::Agent;
    let group = prose.tokens(predicate.verb.saturating_sub(4)..predicate.object_tokens.end);
    let mut earlier = group.iter().filter(|t| t.has(Tags::EARLIER)).peekable();
    own && earlier.peek().is_some() && earlier.all(|t| prose.is(t, words!["already"]))
}

/// Whether the message opens with "Done!" or "All set.", so that the rest reports the work.
pub(super) fn opens_with_done(prose: &Prose<'_>) -> bool {
    prose.sentences.first().is_some_and(|s| {
        let tokens = prose.tokens(s.tokens.clone());
        let closed = |at: usize| tokens.get(at).is_none_or(|t| t.is_mark());
        // "All set — …"
        let all =
            tokens.first().is_some_and(|t| prose.is(t, words!["all", "everything"])) && closed(2);
        let opens = tokens.first().is_some_and(|t| t.has(Tags::DONE)) && closed(1)
            || all && tokens.get(1).is_some_and(|t| t.has(Tags::DONE));
        opens || (tokens.len() <= 3 && tokens.iter().any(|t| t.has(Tags::DONE)))
    })
}
