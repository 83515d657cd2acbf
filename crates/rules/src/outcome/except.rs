//! What a sentence leaves out of the good news it tells.

use counterfoil_model::Family;

use super::trouble::{fails, is_cross};
use super::verdict::check_at;
use crate::prose::{Action, Clause, Prose, Tags, Token, TokenKind};

/// "all tests pass except …", "all pass, but two fail"; not "it compiles, but the tests …".
pub(super) fn excepts(prose: &Prose<'_>, clause: &Clause) -> bool {
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    let rest = prose.tokens(clause.tokens.start..end);
    // "Apart from that one, the tests pass."
    let led = prose.before_in_sentence(clause.tokens.start).first();
    if led.is_some_and(|t| prose.is(t, words!["except", "apart", "besides", "excluding", "aside"]))
    {
        return true;
    }
    // "…, but clippy is clean": the clause itself is what is left of the rest.
    let lead = rest.iter().take_while(|t| matches!(t.kind, TokenKind::Symbol(_))).count();
    rest.iter().enumerate().any(|(at, t)| match prose.word(t) {
        "but" if at == lead => false,
        "except" | "apart" | "besides" | "excluding" | "aside" => true,
        "but" => !is_of_another_check(prose, clause, rest.get(at + 1..).unwrap_or_default()),
        _ => false,
    })
}

/// Whether what stands behind "but" is about a check of another kind than those of the clause.
fn is_of_another_check(prose: &Prose<'_>, clause: &Clause, behind: &[Token]) -> bool {
    let own = prose.tokens(clause.tokens.clone());
    let family = |tokens: &[Token], at: usize| {
        let verb = match tokens.get(at)?.verb {
            Some(Action::Of(Family::Build)) => Some(Family::Build),
            _ => None,
        };
        check_at(prose, tokens, at).or(verb)
    };
    let Some(other) = (0..behind.len()).find_map(|at| family(behind, at)) else { return false };
    let mut said = (0..own.len()).filter_map(|at| family(own, at)).peekable();
    said.peek().is_some() && said.all(|known| known != other)
}

/// "37 passed, 1 failed": some did not.
pub(super) fn some_fail(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    let tokens = prose.tokens(sentence.tokens.clone());
    // "; before the change 3 failed": of another run.
    let earlier = |at: usize| {
        let at = sentence.tokens.start + at;
        let other = prose.clause_at(at);
        other.filter(|c| c.tokens != clause.tokens).is_some_and(|c| {
            let mut words = prose.tokens(c.tokens.clone()).iter();
            words.any(|t| t.has(Tags::EARLIER) || prose.is(t, words!["before"]))
        })
    };
    tokens.iter().any(is_cross)
        || tokens.windows(2).enumerate().any(|(at, pair)| {
            let [number, word] = pair else { return false };
            let some = number.kind == TokenKind::Number && prose.word(number) != "0";
            some && fails(prose, word) && !earlier(at)
        })
        // "3 ✅, 1 ⏱️ timeout"
        || tokens.iter().enumerate().any(|(at, number)| {
            let words = tokens.get(at + 1..(at + 4).min(tokens.len())).unwrap_or_default();
            number.kind == TokenKind::Number
                && prose.word(number) != "0"
                && words
                    .iter()
                    .take_while(|t| t.kind != TokenKind::Number)
                    .any(|t| prose.is(t, words!["timeout", "timeouts"]))
        })
}
