//! Decides whether a claim may be about a time before the record begins.

use crate::prose::{Clause, Predicate, Prose, Tags, Token, TokenKind};

/// "In the previous session I migrated it", "I deployed it on 27 January", "two days ago": whether the
/// sentence may be about an earlier time, of which the record shows nothing.
pub(super) fn may_be_earlier(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let sentence = prose.sentence_of(clause);
    let led = sentence.iter().position(|t| t.has(Tags::AGENT)).unwrap_or(0);
    let past = |t: &Token| {
        prose.is(t, words!["previous", "previously", "prior", "earlier", "yesterday", "ago"])
    };
    sentence.iter().any(past)
        || sentence.get(..led).is_some_and(|led| {
            let last = led.split(|t| t.is(',')).count();
            let mut parts = led.split(|t| t.is(',')).enumerate();
            parts.any(|(at, part)| is_setting(prose, part, at + 1 == last))
        })
        || is_dated(prose, clause, predicate)
}

/// "On Friday", "This morning", "From the handover:": whether the words before "I" say when or where,
/// rather than to what or for whom. `adjacent` says that "I" comes next.
fn is_setting(prose: &Prose<'_>, led: &[Token], adjacent: bool) -> bool {
    let aside = |t: &&Token| t.is_mark() || t.has(tags![COORDINATE, ADVERB]);
    let skipped = led.iter().take_while(aside).count();
    let led = led.get(skipped..).unwrap_or_default();
    let Some(first) = led.first() else { return false };
    let names = |t: &Token| {
        !matches!(t.kind, TokenKind::Word | TokenKind::Number | TokenKind::Date) && !t.is_mark()
            || t.has(tags![USER, USER_OWN, COMPLETED, BE, HAVE])
    };
    if led.iter().any(names) {
        return false;
    }
    let means = words!["for", "with", "by", "via", "using", "to"];
    let placed = first.has(Tags::PREPOSITION) && !first.has(Tags::SUBORDINATE);
    match placed {
        true => !prose.is(first, means),
        // "Two days ago I": nothing else is put directly before "I".
        false => {
            adjacent
                && led.len() > 1
                && led.iter().all(|t| !t.is_mark() && !t.has(tags![SUBORDINATE, COORDINATE]))
        }
    }
}

/// "I deployed it on 27 January", "in May": a day or a month in the simple past. With "have", it
/// belongs to what was done: "I have booked the table on Friday".
fn is_dated(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let before = prose.tokens(clause.tokens.start..predicate.verb);
    let perfect = before
        .iter()
        .any(|t| t.has(Tags::HAVE) || prose.word(t).to_ascii_lowercase().ends_with("ve"));
    let end = predicate.object_tokens.end.max(clause.tokens.end);
    let day = |t: &Token| t.kind == TokenKind::Date || t.has(Tags::MONTH);
    let joins = |t: &Token| prose.is(t, words!["on", "in"]);
    let after = prose.tokens(predicate.verb..end);
    !perfect
        && after
            .iter()
            .enumerate()
            .any(|(at, token)| joins(token) && after.iter().skip(at + 1).take(3).any(day))
}
