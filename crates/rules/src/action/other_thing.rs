//! Which of several things a call was made for, where a claim tells of another one of them: "I froze
//! the card ending in 9915", where `C1` was frozen, and `C2` is the one that ends so.

use std::collections::BTreeSet;
use std::rc::Rc;

use counterfoil_model::ObjectKind;

use super::behind_ids::{behind_ids, siblings_of_ids};
use super::extract::ActionClaim;
use super::judge::args;
use crate::facts::{CallWords, Deed, Execution, Facts, Families};

/// So many digits tell one thing from others: the last of a card's number.
const DIGITS: usize = 3;
/// Shorter words tell nothing.
const SHORTEST: usize = 4;
/// So many calls before a claim are looked at.
const MOST_CALLS: usize = 64;
/// A longer text that mentions something is not about it.
const LONGEST: usize = 8 * 1024;

/// Whether the calls that vouch for a claim were made for other things of a list that was read
/// before: what the claim says of its thing stands there beside another one, and nothing that it
/// says beside those that the calls name.
pub(super) fn is_of_other_thing(
    facts: &Facts<'_>,
    said: &ActionClaim,
    accepted: Families,
    at: usize,
) -> bool {
    let told = telling(said);
    if !said.direct
        || said.stem.is_some()
        || told.is_empty()
        || facts.runs_shell_before(said.claim.turn)
    {
        return false;
    }
    let since = facts.request_before(said.claim.turn);
    let mut of_other = false;
    for nth in (0..facts.record().count_before(said.claim.turn)).rev().take(MOST_CALLS) {
        let Some((execution, deed)) = facts.deed(nth) else { return false };
        if execution.called_at < since && nth != at {
            break;
        }
        if deed.opaque || deed.delegates {
            return false;
        }
        if !deed.families.meets(accepted) || !deed.status_for(accepted).succeeded() {
            continue;
        }
        let own = words_of_call(facts, nth, execution, deed);
        let Some(own) = &*own else { return false };
        if told.iter().any(|word| own.iter().any(|words| stands(words, word))) {
            return false;
        }
        let others = facts.index().siblings(nth, || {
            siblings_of_ids(facts, execution).iter().map(|text| words_of_text(text)).collect()
        });
        of_other |= others.iter().any(|words| told.iter().any(|word| stands(words, word)));
    }
    of_other
}

/// The words of a claim that say which thing of its kind was acted on, in lower case: "credit" of a
/// card, and the digits in which it ends.
fn telling(said: &ActionClaim) -> Vec<String> {
    // Several things, or what became of one at some time.
    let open = said.claim.text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let known = ["all", "every", "both", "each", "was", "were"];
        known.iter().any(|known| known.eq_ignore_ascii_case(word))
    });
    if open {
        return Vec::new();
    }
    let digits = |text: &str| text.len() >= DIGITS && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = said.claim.objects.iter().filter(|o| o.kind == ObjectKind::Number);
    let numbers: Vec<String> =
        numbers.filter(|o| digits(&o.text)).map(|o| o.text.clone()).collect();
    if !numbers.is_empty() {
        return numbers;
    }
    // The last one says of what kind it is.
    let kinds = said.things.split_last().map(|(_, which)| which).unwrap_or_default();
    kinds.iter().filter(|word| word.len() >= SHORTEST).cloned().collect()
}

/// The words of a call: of its tool's name, its arguments, its result, and of what was read before
/// of the ids that it was given. `None` where one of these texts is a long one.
pub(super) fn words_of_call(
    facts: &Facts<'_>,
    at: usize,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> Rc<Option<CallWords>> {
    facts.index().words(at, || {
        let beside = behind_ids(facts, at, execution);
        let texts = [deed.tool.as_ref(), args(execution), execution.text(), &*beside];
        texts.iter().all(|text| text.len() <= LONGEST).then(|| texts.map(words_of_text))
    })
}

/// The words of a text, in lower case.
fn words_of_text(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// Whether a word is among others, or begins one of them.
pub(super) fn stands(words: &BTreeSet<String>, word: &str) -> bool {
    words.range(word.to_owned()..).next().is_some_and(|found| found.starts_with(word))
}
