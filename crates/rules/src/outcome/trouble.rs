//! Whether a clause reports trouble with a check, or says that there is none.

use counterfoil_model::Family;

use super::verdict::{check_at, describes_check, fails, is_cross, passing_at};
use crate::prose::{
    Action, Clause, Kinds, Mood, Prose, Subject, Tags, Token, TokenKind, Voice, Words, sets,
};

/// The index of the statement that there is no trouble: "no lint errors", "0 issues", "without
/// errors", "no failing tests", "all warnings are resolved".
pub(super) fn clears(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    no_trouble(prose, tokens).or_else(|| linter_is_silent(prose, tokens))
}

/// "no lint errors", "0 issues"
fn no_trouble(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    const NONE: &Words = words!["no", "0", "zero", "without", "any", "single"];
    tokens.iter().enumerate().position(|(i, token)| {
        let before = || tokens.get(i.saturating_sub(3)..i).unwrap_or_default().iter();
        let trouble = token.has(Tags::TROUBLE) || fails(prose, token);
        trouble && before().any(|t| prose.is(t, NONE))
    })
}

/// "ruff has nothing to report", "clippy no longer complains"
fn linter_is_silent(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    if !tokens.iter().any(|t| t.has(Tags::NEGATION)) {
        return None;
    }
    let lints = |at: &usize| check_at(prose, tokens, *at) == Some(Family::Lint);
    let linter = (0..tokens.len()).find(lints)?;
    let after = tokens.get(linter + 1..)?;
    let over = after.array_windows().position(|[no, longer, complains]| {
        let complains = prose.is(complains, words!["complains", "complaining", "objects"]);
        complains && prose.is(no, words!["no"]) && prose.is(longer, words!["longer"])
    });
    if let Some(over) = over {
        return Some(linter + 1 + over);
    }
    let nothing = after.iter().position(|t| prose.is(t, words!["nothing"]))?;
    let tells = words!["report", "complain", "say", "find", "flag"];
    let verb = |t: &Token| prose.is(t, &sets::FINDS);
    let closed = after.get(nothing + 1).is_none_or(|t| !prose.is(t, words!["but", "else"]));
    let to = after.get(nothing + 2).is_some_and(|t| prose.is(t, tells));
    let finds_nothing = to || after.get(..nothing)?.last().is_some_and(verb);
    (finds_nothing && closed).then_some(linter + 1 + nothing)
}

/// Whether the clause says that a check failed.
pub(super) fn reports_trouble(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let crossed = clause.kinds.any(Kinds::SIGN) && tokens.iter().any(is_cross);
    let denied = clause.tags.any(Tags::NEGATION);
    let reported =
        clause.tags.any(Tags::FAILURE) || (denied && clause.tags.any(Tags::PASSING)) || crossed;
    if clause.mood != Mood::Asserted || !reported {
        return false;
    }
    // "Fixed the failing test": the trouble is over.
    let repaired = clause.predicates.iter().any(|p| {
        let own = p.subject == Subject::Agent || p.voice == Voice::Bare;
        let repairs = matches!(p.action, Action::Of(Family::Update | Family::Create));
        let object = prose.tokens(p.object_tokens.clone());
        let some = object.iter().any(|t| prose.is(t, words!["of", "still", "not"]) || is_cross(t));
        let outside = tokens.iter().take(p.verb.saturating_sub(clause.tokens.start));
        own && repairs && !p.negated && !some && !outside.into_iter().any(|t| t.has(Tags::FAILURE))
    });
    !repaired
        && (crossed
            || (0..tokens.len()).any(|at| tells_trouble(prose, tokens, at))
            || (denied && clause.tags.any(Tags::PASSING)))
        && clears(prose, tokens).is_none()
}

/// Whether a word reports trouble rather than naming it: not in "error handling", "returns an error
/// if the file is missing", "the previously failing test passes".
fn tells_trouble(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at).filter(|t| t.has(Tags::FAILURE)) else { return false };
    if !prose.is(token, words!["error", "errors", "failure", "failures"]) {
        return !(describes_check(prose, tokens, at) && passing_at(prose, tokens).is_some());
    }
    let compound = tokens.get(at + 1).is_some_and(|t| {
        let plain = t.tags.is_empty() || t.has(Tags::TEXT_NOUN);
        t.kind == TokenKind::Word && plain && t.verb.is_none() && !prose.word(token).ends_with('s')
    });
    let raised = tokens.get(..at).unwrap_or_default().iter().rev().take(4).any(|t| {
        let word = prose.word(t).to_ascii_lowercase();
        sets::HANDLES_ERRORS.list.iter().any(|stem| word.starts_with(stem))
    });
    !(compound || raised)
}
