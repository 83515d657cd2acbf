//! Outcomes that are requested, hypothetical or explained, rather than reported.

use crate::prose::{Clause, Prose, Tags, Token, TokenKind, is_of_a_text};

/// "After that, check that all tests pass", "tests pass → tag → release": a plan, or an order of
/// steps.
pub(super) fn is_order(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    let tokens = prose.tokens(sentence.tokens.clone());
    if tokens.iter().filter(|t| t.is('→')).count() > 1 {
        return true;
    }
    let before = prose.tokens(sentence.tokens.start..clause.tokens.end);
    before.array_windows().enumerate().any(|(at, [verb, that])| {
        let orders = prose.is(verb, words!["check", "verify", "ensure", "confirm", "sure"]);
        let mut led = before.get(..at).unwrap_or_default().iter();
        orders
            && prose.is(that, words!["that", "all", "the", "whether", "if"])
            && !led.any(|t| t.has(Tags::AGENT) || prose.is(t, words!["made"]))
            && (at > 0 || verb.capital)
    })
}

/// "If you rename it, all tests pass", "even then the tests pass", "`0`: all tests passed", "it
/// exits with 0 when all tests passed": a hypothetical outcome, or the meaning of a result.
pub(super) fn is_supposed(prose: &Prose<'_>, index: usize) -> bool {
    let Some(clause) = prose.clauses.get(index) else { return false };
    let whole = prose.sentence_of(clause);
    let tokens = prose.tokens(clause.tokens.clone());
    explains_code(prose, whole)
        || is_of_a_text(prose, tokens)
        || is_purpose(prose, whole, tokens)
        || depends(prose, index, tokens)
        || (is_timeless(prose, tokens) && follows(prose, whole, tokens))
}

/// "To see all tests pass, run `pytest`": a purpose.
fn is_purpose(prose: &Prose<'_>, whole: &[Token], tokens: &[Token]) -> bool {
    let first = whole.first().filter(|t| prose.is(t, words!["to"]));
    first.zip(tokens.first()).is_some_and(|(to, head)| to.start == head.start)
}

/// Whether a clause is in the simple present and names no time.
fn is_timeless(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let past = tags![HAVE, PAST_BE, AGENT];
    let passed = |t: &Token| {
        t.has(Tags::PASSING) && prose.is(t, words!["passed", "succeeded", "finished", "completed"])
    };
    !tokens.iter().any(|t| t.has(past) || passed(t))
}

/// Whether a clause states the consequence of a condition.
fn follows(prose: &Prose<'_>, whole: &[Token], tokens: &[Token]) -> bool {
    let lead = tags![COORDINATE, ADVERB, ADVERSATIVE];
    let word = |t: &&Token| t.kind == TokenKind::Word && !t.has(lead);
    let condition = words!["if", "unless", "assuming", "provided", "suppose", "supposing"];
    // "Once the sleep is moved, …"; not "Once I moved it".
    let once = || {
        let first = whole.iter().position(|t| t.is(',')).and_then(|comma| whole.get(..comma));
        let be = |t: &Token| t.has(Tags::BE) && !t.has(Tags::PAST_BE);
        first.is_some_and(|first| first.iter().any(be) && is_timeless(prose, first))
    };
    let led = whole.iter().find(word).is_some_and(|t| {
        prose.is(t, condition) || (prose.is(t, words!["once", "when", "whenever"]) && once())
    });
    let mut words = tokens.iter().filter(|t| t.kind == TokenKind::Word);
    let then = words.find(|t| !prose.is(t, words!["even", "but", "and"]));
    led || then.is_some_and(|t| prose.is(t, words!["then"]))
}

/// "`0`: all tests passed": a legend of exit codes.
fn explains_code(prose: &Prose<'_>, whole: &[Token]) -> bool {
    let [code, colon, ..] = whole else { return false };
    let digits = |t: &Token| prose.word(t).bytes().all(|b| b.is_ascii_digit());
    let number = matches!(code.kind, TokenKind::Number | TokenKind::Code) && digits(code);
    number && (colon.is(':') || colon.is('='))
}

/// "It exits with 0 when …", "the test passes if nothing is raised": how it works, not a run.
fn depends(prose: &Prose<'_>, index: usize, tokens: &[Token]) -> bool {
    let exits = tokens.iter().any(|t| prose.is(t, words!["exits", "returns", "passes"]));
    let next = prose.clauses.get(index + 1).map(|next| prose.tokens(next.tokens.clone()));
    exits
        && next.is_some_and(|next| {
            let head = next.iter().find(|t| t.kind == TokenKind::Word);
            let own = next.iter().any(|t| t.has(Tags::AGENT));
            head.is_some_and(|t| prose.is(t, words!["when", "if", "unless", "once"])) && !own
        })
}
