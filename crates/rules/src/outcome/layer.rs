//! Kinds of checks: whether the claimed check is the one that ran.

use counterfoil_model::Family;

use super::extract::OutcomeClaim;
use crate::facts::Facts;
use crate::prose::{Lexicon, sets};
use crate::values::holds;

/// "The request specs pass", "mypy is clean": whether the run may be of another kind, because
/// neither its command nor its output has the claim's word for the kind.
pub(super) fn is_of_another_kind(facts: &Facts<'_>, claimed: &OutcomeClaim, at: usize) -> bool {
    let Some((execution, _)) = facts.deed(at) else { return false };
    let check = claimed.check.as_deref().filter(|check| !sets::ANY_CHECK.list.contains(check));
    let test = claimed.named.as_deref().and_then(|name| name.rsplit(['/', ':', '.']).next());
    let words = claimed_layer(&claimed.claim.text).into_iter().chain(check).chain(test);
    let has = |word: &str| holds(execution.arguments(), word) || holds(execution.text(), word);
    words.into_iter().any(|word| !has(word))
}

/// The layer that a claim's tests belong to: "the request specs".
fn claimed_layer(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    words.array_windows().find_map(|[which, noun]| {
        let tests = Lexicon::english().get(noun)?.noun == Some(Family::Test);
        layer(which).filter(|_| tests)
    })
}

/// Whether a word names a layer of tests.
pub(super) fn is_layer(word: &str) -> bool {
    layer(word).is_some()
}

fn layer(word: &str) -> Option<&'static str> {
    let one = word.strip_suffix('s').unwrap_or(word);
    sets::LAYERS.list.iter().copied().find(|layer| layer.eq_ignore_ascii_case(one))
}
