//! Reports of what a text says: "the README says all tests pass".

use super::{Prose, Tags, Token, sets};

/// Whether the words report what a text says, rather than what is true.
pub(crate) fn is_of_a_text(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let at = tokens.iter().position(|t| !t.quoted && prose.is(t, &sets::SAYS));
    let before = at.and_then(|at| tokens.get(..at)).unwrap_or_default();
    before.iter().any(|t| prose.is(t, &sets::TEXTS)) && !before.iter().any(|t| t.has(Tags::AGENT))
}
