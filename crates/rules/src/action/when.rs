//! Decides whether a claimed action may have been done before the record begins.

use crate::prose::{Clause, Prose, Tags, Token, TokenKind, names_earlier_time};

/// "In the previous session I migrated it", "I deployed it on 27 January", "two days ago": whether the
/// sentence may be about an earlier time, of which the record shows nothing.
pub(super) fn may_be_earlier(prose: &Prose<'_>, clause: &Clause) -> bool {
    let sentence = prose.sentence_of(clause);
    let led = sentence.iter().position(|t| t.has(Tags::AGENT)).unwrap_or(0);
    let past = |t: &Token| prose.is(t, words!["previous", "previously", "prior", "earlier"]);
    sentence.iter().any(past)
        || names_earlier_time(prose, clause)
        || sentence.get(..led).is_some_and(|led| {
            let last = led.split(|t| t.is(',')).count();
            let mut parts = led.split(|t| t.is(',')).enumerate();
            parts.any(|(at, part)| is_setting(prose, part, at + 1 == last))
        })
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
