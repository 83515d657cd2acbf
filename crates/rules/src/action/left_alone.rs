//! Files that are said to be as they were: "I left `a.md` untouched", "the configuration is
//! unchanged", "nothing under `tests/` was modified".

use std::ops::Range;

use counterfoil_model::{Object, ObjectKind};

use super::denied::{DeniedAct, is_word};
use super::objects::objects_in;
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, Words, sets};

/// "I left `a.md` untouched": files that are said to be as they were.
pub(crate) fn left_alone(prose: &Prose<'_>, clause: &Clause) -> Option<DeniedAct> {
    const LEFT: &Words = words!["left", "leaving", "kept", "keeping", "stayed"];
    const SO: &Words = words!["untouched", "unchanged", "unmodified", "unedited", "alone"];
    const AWAY: &Words = words!["off", "out", "away"];
    let tokens = prose.tokens(clause.tokens.clone());
    let asserted = matches!(clause.mood, Mood::Asserted | Mood::Observed);
    if !asserted || !clause.may_hold(LEFT) {
        return None;
    }
    let left = tokens.iter().position(|t| !t.quoted && prose.is(t, LEFT))?;
    let range = clause.tokens.start + left + 1..clause.tokens.end;
    let phrase = prose.tokens(range.clone());
    let so = phrase.iter().position(|t| !t.quoted && prose.is(t, SO));
    let from = clause.tokens.start + left + 1;
    // "kept my hands off `a.md`", "stayed out of `a.md`"
    let off = || {
        let away = phrase.iter().take(3).position(|t| !t.quoted && prose.is(t, AWAY))?;
        let stayed = prose.is(tokens.get(left)?, words!["stayed"]);
        let hands = phrase.iter().take(away).any(|t| prose.is(t, words!["hands", "fingers"]));
        let of = phrase.get(away + 1).is_some_and(|t| prose.is(t, words!["of", "from"]));
        (stayed || hands).then_some(from + away + 1 + usize::from(of)..clause.tokens.end)
    };
    // "left the tests as they were": behind "as" a clause of its own begins.
    let as_were = || {
        let end = clause.tokens.end;
        let behind = prose.tokens(end..prose.tokens.len().min(end + 3));
        let [like, who, were] = behind else { return None };
        let same = prose.is(like, words!["as"])
            && prose.is(who, words!["they", "it"])
            && prose.is(were, words!["were", "was", "are", "is"]);
        same.then_some(from..end)
    };
    let named = so.map(|so| from..from + so).or_else(off).or_else(as_were)?;
    untouched_files(prose, clause, named)
}

/// "`a.md` is unchanged", "`a.md` is exactly as you had it": files that are said to be as they were.
pub(crate) fn same_as_before(prose: &Prose<'_>, clause: &Clause) -> Option<DeniedAct> {
    const SO: &Words = words!["untouched", "unchanged", "unmodified"];
    let from = clause.tokens.start;
    let tokens = prose.tokens(from..prose.tokens.len().min(clause.tokens.end + 6));
    let asserted = matches!(clause.mood, Mood::Asserted | Mood::Observed);
    let as_before = |t: &Token| prose.is(t, SO) || prose.is(t, words!["as"]);
    if !asserted || !tokens.iter().any(as_before) {
        return None;
    }
    let lead = tokens.iter().take_while(|t| matches!(t.kind, TokenKind::Symbol(_))).count();
    let link = tokens.iter().position(|t| {
        t.has(Tags::BE.or(Tags::PAST_BE)) || prose.is(t, words!["stays", "remains", "stayed"])
    })?;
    let small = |t: &&Token| {
        t.has(Tags::ADVERB.or(Tags::NOW).or(Tags::HAVE)) || prose.is(t, words!["exactly", "just"])
    };
    let mut behind = tokens.get(link + 1..)?.iter().skip_while(small);
    let first = behind.next()?;
    let (who, had) = (behind.next(), behind.next());
    let is = |t: Option<&Token>, known: &Words| t.is_some_and(|t| prose.is(t, known));
    // "as you had it", "as it was"
    let as_was = prose.is(first, words!["as"])
        && is(who, words!["you", "it", "they", "i"])
        && is(had, words!["had", "was", "were", "left", "found"]);
    let so = prose.is(first, SO) && who.is_none_or(|t| !is_word(t));
    if !(so || as_was) || link <= lead {
        return None;
    }
    untouched_files(prose, clause, from + lead..from + link)
}

/// The denial that files were changed, where a phrase names nothing else.
fn untouched_files(prose: &Prose<'_>, clause: &Clause, named: Range<usize>) -> Option<DeniedAct> {
    let tokens = prose.tokens(clause.tokens.clone());
    let mut objects: Vec<Object> = objects_in(prose, named.clone());
    // "the CloudFront file `cdn.tf`"
    if objects.iter().any(|o| o.kind == ObjectKind::Path) {
        objects.retain(|o| o.kind != ObjectKind::Name);
    }
    let small = Tags::DETERMINER.or(Tags::COORDINATE).or(Tags::ADVERB);
    // "the heading in `a.md`" is a part of it.
    let whole = prose.tokens(named).iter().all(|t| {
        !is_word(t)
            || t.has(small)
            || t.kind != TokenKind::Word
            || prose.is(t, words!["file", "files", "exactly", "just"])
    });
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::THIRD);
    let mut rest = tokens.iter();
    let open = rest.any(|t| {
        t.has(doubt) || prose.is(t, &sets::PARTLY_DENIED) || prose.is(t, words!["otherwise"])
    });
    let files = !objects.is_empty() && objects.iter().all(|o| o.kind == ObjectKind::Path);
    (files && whole && !open).then(|| DeniedAct::of_files(objects))
}
