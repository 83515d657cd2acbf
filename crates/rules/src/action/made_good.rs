//! Failures that were made good: the same tool worked when it was called again, or another result
//! says that it is done.

use counterfoil_model::Family;

use super::extract::ActionClaim;
use super::judge::LOOK_BACK;
use super::tie::{head, stem};
use crate::facts::{Deed, Facts, Families};
use crate::values::{Leaf, Leaves};

/// Shorter words begin alike by chance.
const SHORTEST: usize = 5;

/// Whether what failed at a place may have been done all the same.
pub(super) fn is_made_good(
    facts: &Facts<'_>,
    said: &ActionClaim,
    accepted: Families,
    failed: usize,
) -> bool {
    let count = facts.record().count_before(said.claim.turn);
    // Which file was written is another matter.
    let edits = |word: &String| ["edit", "write", "patch", "replace"].contains(&word.as_str());
    let acts = |deed: &Deed<'_>| {
        deed.shell.is_none() && deed.written.is_empty() && !deed.words().iter().any(edits)
    };
    let Some((_, wrong)) = facts.deed(failed).filter(|(_, deed)| acts(deed)) else {
        return false;
    };
    let tells_failure = || {
        let words = ["rejected", "refused", "declined", "failed", "denied", "blocked", "bounced"];
        words_in(&said.claim.text).any(|word| words.contains(&word))
    };
    // "I switched vendors": not what the tool is named after.
    let act = head(&said.verb);
    let loose = said.family == Family::Update && !wrong.words().iter().any(|w| head(w) == act);
    let again = (failed + 1..count).filter_map(|at| facts.deed(at)).any(|(_, deed)| {
        let other = loose || !deed.families.meets(accepted) || tells_failure();
        deed.tool == wrong.tool && deed.status().succeeded() && other
    });
    again || is_done_by_name(facts, said, failed) || is_member(facts, said, count)
}

/// Whether a later call worked whose tool the claim spells, and not the one that failed.
pub(super) fn is_done_by_name(facts: &Facts<'_>, said: &ActionClaim, failed: usize) -> bool {
    let count = facts.record().count_before(said.claim.turn);
    let spelt = |at: usize| facts.deed(at).filter(|(_, deed)| is_spelt(said, deed));
    let worked = |at: usize| spelt(at).is_some_and(|(_, deed)| deed.status().succeeded());
    spelt(failed).is_none() && (failed + 1..count).any(worked)
}

/// Whether the claim says every word of the tool's name, of which there are several: "I've drafted
/// your reply" is of `draft_reply`, and not of `draft_forward`.
fn is_spelt(said: &ActionClaim, deed: &Deed<'_>) -> bool {
    let words = deed.words();
    let says =
        |said: &str, word: &str| said == word || stem(said) == word || head(said) == head(word);
    let in_claim = |word: &String| words_in(&said.claim.text).any(|said| says(said, word));
    let named_after = words.iter().any(|word| says(&said.verb, word));
    words.len() > 1 && named_after && words.iter().all(in_claim)
}

/// `{"invite": "sent"}`, of "has been sent the invitation".
fn is_member(facts: &Facts<'_>, said: &ActionClaim, count: usize) -> bool {
    let mut recent = (0..count).rev().take(LOOK_BACK).filter_map(|at| facts.deed(at));
    recent.any(|(execution, deed)| {
        let says = deed.status().succeeded() && execution.text().contains(said.verb.as_str());
        let Some(leaves) = says.then(|| Leaves::of(execution.text())).flatten() else {
            return false;
        };
        leaves.nodes().iter().any(|node| {
            let is = matches!(node.leaf, Leaf::Text(text) if text.eq_ignore_ascii_case(&said.verb));
            let named = |word: &str| word.len() >= SHORTEST && head(word) == head(node.name);
            is && node.name.len() >= SHORTEST && words_in(&said.claim.text).any(named)
        })
    })
}

fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}
