//! Finds the counts that a clause states.

use counterfoil_model::Family;

use crate::prose::{
    Action, BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind, is_of_a_text, sets,
};
use crate::values::{Countable, whole};

/// A stated count.
pub(super) struct Count<'t> {
    pub(super) number: u64,
    /// Whether it counts tests. Otherwise, it counts things that tools are named after.
    pub(super) is_tests: bool,
    /// Whether words between the number and the noun restrict it to some of them.
    pub(super) some: bool,
    pub(super) first: &'t Token,
    pub(super) last: &'t Token,
}

/// The counts that a clause states as found, rather than as made or planned.
pub(super) fn counts<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Vec<Count<'p>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s));
    let quoted = block.is_some_and(|b| matches!(b.kind, BlockKind::Quote | BlockKind::Heading));
    let asserted = matches!(clause.mood, Mood::Asserted | Mood::Observed);
    let hedged = tags![MODAL, NEGATION, HEDGE, INTEND];
    let aside = tokens.first().is_some_and(|t| t.is('(')) && !is_sum_of_run(prose, tokens);
    // "3 pending" is a test runner's word.
    let open = |t: &Token| {
        t.has(hedged) && !t.has(Tags::FAILURE) && !prose.is(t, words!["pending", "skipped"])
    };
    if quoted || aside || !asserted || tokens.iter().any(open) || is_of_a_text(prose, tokens) {
        return Vec::new();
    }
    let makes = clause.predicates.iter().any(|p| {
        let counts = |family| matches!(family, Family::Commit | Family::Run | Family::Test);
        matches!(p.action, Action::Of(family) if family.changes_state() && !counts(family))
    });
    let count = |(at, token): (usize, &'p Token)| {
        if let Some(number) = all_of_all(prose, token).filter(|_| speaks_of_tests(prose, clause)) {
            return Some(Count { number, is_tests: true, some: false, first: token, last: token });
        }
        (!makes).then(|| count_at(prose, clause, tokens, at)).flatten()
    };
    tokens.iter().enumerate().filter_map(count).collect()
}

/// The count that begins with the number at that position.
fn count_at<'p>(
    prose: &Prose<'_>,
    clause: &Clause,
    tokens: &'p [Token],
    at: usize,
) -> Option<Count<'p>> {
    let token = tokens.get(at)?;
    // "four meetings" counts things that tools list; "two tests" may be any two.
    let spelled = token.kind == TokenKind::Word
        && token.tags.is_empty()
        && prose.is(token, &sets::SPELLED_NUMBERS);
    if token.quoted || !(token.kind == TokenKind::Number || spelled) {
        return None;
    }
    let number = whole(prose.word(token))?;
    let inexact = is_part(prose, tokens, at);
    if inexact || is_version(prose, tokens, at) {
        return None;
    }
    let (kind, last) = noun_after(prose, clause, tokens, at, spelled)?;
    if is_rate(prose, tokens, last) {
        return None;
    }
    let is_tests = match kind {
        Some(Countable::Tests) => true,
        None => false,
        // Other nouns are counted in too many ways.
        Some(Countable::Others) => return None,
    };
    let some = tokens.get(at + 1).is_some_and(|next| next.start != last.start);
    Some(Count { number, is_tests, some, first: token, last })
}

/// The noun after a number, and what it counts if that is known.
fn noun_after<'p>(
    prose: &Prose<'_>,
    clause: &Clause,
    tokens: &'p [Token],
    at: usize,
    spelled: bool,
) -> Option<(Option<Countable>, &'p Token)> {
    let mut noun = None;
    let mut named = None;
    let is_name =
        |t: &&(usize, &Token)| matches!(t.1.kind, TokenKind::Word | TokenKind::Identifier);
    let ends = tags![PREPOSITION, COORDINATE, BE];
    let after = tokens.iter().enumerate().skip(at + 1).take(3);
    for (place, next) in after.take_while(|t| is_name(&t) && !t.1.has(ends)) {
        let word = prose.word(next);
        let ended = next.has(tags![PAST, FAILURE, PASSING]);
        let plural = word.ends_with(['s', 'S']) || (ended && !word.ends_with("ing"));
        // In "75 failing files", the noun is "files".
        let describes = !word.ends_with(['s', 'S'])
            && tokens
                .get(place + 1)
                .is_some_and(|t| t.kind == TokenKind::Word && t.tags.is_empty());
        if describes {
            continue;
        }
        // RSpec's word for tests; elsewhere, it means illustrations.
        let other = prose.is(next, words!["examples"]) && !tells_of_run(prose, clause);
        if let Some(kind) = Countable::parse(word).filter(|_| plural && !other) {
            noun = Some((Some(kind), next));
            break;
        }
        named = Some((None, next)).filter(|_| plural).or(named);
    }
    let noun = noun.filter(|(_, last)| !is_setting(prose, tokens, last));
    noun.or(named).filter(|(kind, _)| !spelled || kind.is_none())
}

/// "PASS=2 ERROR=1": the name comes before its number; "3 failures allowed": a setting, not a
/// result.
fn is_setting(prose: &Prose<'_>, tokens: &[Token], last: &Token) -> bool {
    let assigned = tokens.iter().any(|m| m.is('=') && m.start == last.end);
    let set = words!["allowed", "permitted", "tolerated", "maximum"];
    let after = tokens.iter().find(|t| t.start > last.start);
    assigned || after.is_some_and(|t| prose.is(t, set))
}

/// "8 flights a day", "20 orders per request".
fn is_rate(prose: &Prose<'_>, tokens: &[Token], noun: &Token) -> bool {
    let after = tokens.iter().find(|t| t.start > noun.start);
    after.is_some_and(|t| prose.is(t, words!["a", "an", "per", "each", "every"]))
}

/// Whether the sentence reports a test run.
fn tells_of_run(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.sentence_of(clause).iter().any(|t| {
        t.has(tags![FAILURE, PASSING]) || prose.is(t, words!["failures", "pending", "passed"])
    })
}

/// "the build with vite 5 failed": a version number after the name of a program.
fn is_version(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let led = at.checked_sub(2).and_then(|before| tokens.get(before));
    let led = led.is_some_and(|t| t.has(Tags::PREPOSITION));
    let named = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|t| {
        let name = t.tags.is_empty() && t.verb.is_none() && t.noun.is_none();
        t.kind == TokenKind::Word && name && Countable::parse(prose.word(t)).is_none()
    });
    let ends = |t: &Token| t.has(tags![PAST, FAILURE, PASSING]);
    led && named && tokens.get(at + 1).is_some_and(ends)
}

/// "(94 passed)", "(3 failed": the total of a run in the runner's own words.
fn is_sum_of_run(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let (Some(number), Some(word)) = (tokens.get(1), tokens.get(2)) else { return false };
    number.kind == TokenKind::Number
        && prose.is(word, words!["passed", "passing", "failed", "failing"])
        && tokens.get(3).is_none_or(|t| t.is_mark() || prose.is(t, words!["in", "and"]))
}

/// "21/21": returns the number if both parts are equal.
fn all_of_all(prose: &Prose<'_>, token: &Token) -> Option<u64> {
    if !prose.bytes(token).first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let (some, all) = prose.word(token).split_once('/')?;
    (some == all && !token.quoted && token.kind != TokenKind::Code).then(|| whole(all)).flatten()
}

/// Whether the sentence is about tests.
fn speaks_of_tests(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.sentence_of(clause);
    tokens.iter().any(|t| !t.quoted && t.noun == Some(Family::Test))
}

/// "3 of 12", "the first 3", "at least 3", "another 3": not a total.
fn is_part(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    let after = tokens.get(at + 1);
    let part = |t: &Token| prose.is_rough(t) || prose.is(t, &sets::NOT_OF_ALL);
    let more = words!["of", "more", "other", "additional"];
    // "down from 75 warnings in 29 files": an earlier number.
    let upto = tokens.get(..=at).unwrap_or_default();
    let formerly = upto
        .array_windows()
        .any(|[from, number]| prose.is(from, words!["from"]) && number.kind == TokenKind::Number);
    if formerly {
        return true;
    }
    before.is_some_and(|t| part(t) || t.is('~') || t.is('#') || t.is('-') || t.is('/'))
        || after.is_some_and(|t| t.is('/') || prose.is(t, more))
}
