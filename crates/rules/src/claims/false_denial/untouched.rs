//! Everything said to be as it was: "I left all files untouched", "the code is as it was".

use crate::prose::{Clause, Prose, Tags, Token, TokenKind, Words, sets};

/// "I left the code untouched", "the working tree is unchanged": all of it, and nothing else said.
pub(super) fn is_left_alone(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(words) = words_of(prose, clause) else { return false };
    let is = |at: usize, known: &Words| words.get(at).is_some_and(|t| prose.is(t, known));
    let agent = words.first().is_some_and(|t| t.has(Tags::AGENT));
    let left = agent
        && (is(1, words!["left", "kept"])
            || (is(1, words!["have", "'ve"]) && is(2, words!["left"])));
    let mut at = match left {
        true => words.iter().position(|t| prose.is(t, words!["left", "kept"])).unwrap_or(0) + 1,
        false => 0,
    };
    while is(at, words!["the", "all", "your", "of", "existing"]) {
        at += 1;
    }
    if is(at, words!["working"]) && is(at + 1, words!["tree", "copy"]) {
        at += 1;
    }
    if !is(at, &sets::ALL_OF_IT) {
        return false;
    }
    at += 1;
    if !left {
        if !is(at, &sets::STAYS) {
            return false;
        }
        at += 1;
    }
    let untouched = words!["untouched", "unchanged", "unmodified", "alone", "intact"];
    let as_was = is(at, words!["as"])
        && is(at + 1, words!["they", "it"])
        && is(at + 2, words!["were", "was"]);
    let end = if as_was { at + 3 } else { at + 1 };
    // "Everything is unchanged" may speak of how things look.
    let vague = !left && is(at.saturating_sub(2), words!["everything"]);
    (as_was || is(at, untouched)) && end == words.len() && !vague
}

/// The words of a clause that may say so. "As they were" is read with it, although it counts as a
/// separate clause.
fn words_of<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<Vec<&'p Token>> {
    let end = clause.tokens.end;
    let upto = prose.tokens.len().min(end + 4);
    let mut told = prose.tokens(clause.tokens.start..upto).iter();
    if !told.any(|t| prose.is(t, &sets::UNTOUCHED)) {
        return None;
    }
    let as_were = prose.tokens(end..upto).iter().take_while(|t| t.kind == TokenKind::Word);
    let behind: Vec<&Token> = as_were.collect();
    let joined = behind.len() == 3 && behind.first().is_some_and(|t| prose.is(t, words!["as"]));
    let tokens = prose.tokens(clause.tokens.clone()).iter();
    let mut words: Vec<&Token> = tokens.filter(|t| t.kind == TokenKind::Word).collect();
    if joined {
        words.extend(behind);
    }
    (!words.iter().any(|t| t.quoted)).then_some(words)
}
