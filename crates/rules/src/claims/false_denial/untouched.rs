//! Everything said to be as it was: "I left all files untouched", "the code is as it was".

use crate::prose::{Clause, Prose, Tags, Token, TokenKind, Words};

/// "I left the code untouched", "the working tree is unchanged": all of it, and nothing else said.
pub(super) fn is_left_alone(prose: &Prose<'_>, clause: &Clause) -> bool {
    const LEFT: &Words =
        words!["untouched", "unchanged", "unmodified", "alone", "intact", "were", "was"];
    // "as they were" counts as a clause of its own.
    let end = clause.tokens.end;
    let upto = prose.tokens.len().min(end + 4);
    if !prose.tokens(clause.tokens.start..upto).iter().any(|t| prose.is(t, LEFT)) {
        return false;
    }
    let as_were = prose.tokens(end..upto).iter().take_while(|t| t.kind == TokenKind::Word);
    let behind: Vec<&Token> = as_were.collect();
    let joined = behind.len() == 3 && behind.first().is_some_and(|t| prose.is(t, words!["as"]));
    let tokens = prose.tokens(clause.tokens.clone()).iter();
    let mut words: Vec<&Token> = tokens.filter(|t| t.kind == TokenKind::Word).collect();
    if joined {
        words.extend(behind);
    }
    let is = |at: usize, known: &Words| words.get(at).is_some_and(|t| prose.is(t, known));
    if words.iter().any(|t| t.quoted) {
        return false;
    }
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
    let all = words![
        "code",
        "codebase",
        "repository",
        "repo",
        "files",
        "tree",
        "copy",
        "everything",
        "project",
    ];
    if !is(at, all) {
        return false;
    }
    at += 1;
    if !left {
        if !is(at, words!["is", "are", "was", "were", "remains", "remain", "stays"]) {
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
