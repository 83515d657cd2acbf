//! Decides whether a sentence names a time before the record begins.

use super::{Clause, Prose, Tags, Token, TokenKind};

/// "yesterday", "two days ago", "last week", "on Friday", "in the previous session".
pub(crate) fn names_earlier_time(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.sentence_of(clause);
    let first = tokens.iter().find(|t| !t.is_mark());
    tokens.iter().any(|t| prose.is(t, words!["yesterday", "ago"]))
        || first.is_some_and(|t| prose.is(t, words!["previously", "earlier", "prior"]))
        || names_period(prose, tokens)
        || names_session(prose, clause)
        || is_dated(prose, clause)
}

/// "this morning", "last Friday", but not "for this week", which says when something will be.
fn names_period(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let period = words!["morning", "night", "week", "month", "year"];
    tokens.array_windows().enumerate().any(|(at, [which, what])| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        prose.is(which, words!["last", "this"])
            && (prose.is(what, period) || what.has(Tags::MONTH))
            && !before.is_some_and(|t| t.has(Tags::PREPOSITION))
    })
}

/// "in the last session", "in session 41": whether a sentence names a session that is not the
/// recorded one.
pub(crate) fn names_session(prose: &Prose<'_>, clause: &Clause) -> bool {
    let session = words!["session", "sessions", "conversation", "chat"];
    let other = words!["last", "previous", "earlier", "prior", "another", "separate"];
    prose.sentence_of(clause).array_windows().any(|[one, two]| {
        prose.is(one, other) && prose.is(two, session)
            || prose.is(one, session) && two.kind == TokenKind::Number
    })
}

/// "I deployed it on 27 January", "in May": a day or a month in the simple past. With "have", it
/// belongs to what was done: "I have booked the table on Friday".
fn is_dated(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.sentence_of(clause);
    let perfect = tokens
        .iter()
        .any(|t| t.has(Tags::HAVE) || prose.word(t).to_ascii_lowercase().ends_with("ve"));
    let day = |t: &Token| t.kind == TokenKind::Date || t.has(Tags::MONTH);
    let joins = |t: &Token| prose.is(t, words!["on", "in"]);
    let mut places = tokens.iter().enumerate().filter(|(_, t)| joins(t));
    !perfect && places.any(|(at, _)| tokens.iter().skip(at + 1).take(3).any(day))
}
