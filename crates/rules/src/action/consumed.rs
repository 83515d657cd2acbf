//! Calls that each vouch for one claim only: "I emailed Ingrid. I also emailed Tomas.", after one
//! mail to Ingrid.

use std::collections::BTreeSet;

use super::behind_ids::behind_ids;
use super::extract::ActionClaim;
use super::judge::{ActionVerdict, LOOK_BACK, args};
use super::other_thing::{stands, words_of_text};
use crate::facts::{Facts, Families};
use crate::prose::Lexicon;

/// A shorter word is no name.
const SHORTEST: usize = 3;
/// A longer text that mentions somebody is not about them.
const LONGEST: usize = 8 * 1024;

/// Takes its support from each claim that names somebody or something for which no call of its kind
/// was made, where all such calls were made for what other claims of the message name.
pub(crate) fn consume(facts: &Facts<'_>, claims: &[ActionClaim], verdicts: &mut [ActionVerdict]) {
    let names: Vec<BTreeSet<String>> = claims.iter().map(names).collect();
    for (at, said) in claims.iter().enumerate() {
        let supported = matches!(verdicts.get(at), Some(ActionVerdict::Supported(Some(_))));
        let own = names.get(at).filter(|own| !own.is_empty());
        let (true, true, Some(own)) = (supported, said.direct, own) else { continue };
        let others = claims.iter().zip(&names).enumerate();
        let others = others.filter(|(other, (claim, _))| {
            *other != at && claim.claim.turn == said.claim.turn && claim.family == said.family
        });
        let others: Vec<&BTreeSet<String>> = others.map(|(_, (_, names))| names).collect();
        if others.iter().any(|names| !names.is_empty()) && all_are_taken(facts, said, own, &others)
        {
            if let Some(verdict) = verdicts.get_mut(at) {
                *verdict = ActionVerdict::Absent(false);
            }
        }
    }
}

/// Whether every call of a claim's kind since the user asked was made for what others name, and none
/// for what it names itself.
fn all_are_taken(
    facts: &Facts<'_>,
    said: &ActionClaim,
    own: &BTreeSet<String>,
    others: &[&BTreeSet<String>],
) -> bool {
    let turn = said.claim.turn;
    let since = facts.request_before(turn);
    let kind = Families::of(&[said.family]);
    let mut any = false;
    for at in (0..facts.record().count_before(turn)).rev().take(LOOK_BACK) {
        let Some((execution, deed)) = facts.deed(at) else { return false };
        if execution.called_at < since {
            break;
        }
        if deed.shell.is_some() || deed.opaque || deed.delegates || deed.families.is_empty() {
            return false;
        }
        if !deed.changes() || !deed.status().succeeded() {
            continue;
        }
        let beside = behind_ids(facts, at, execution);
        let texts = [deed.tool.as_ref(), args(execution), execution.text(), &*beside];
        if texts.iter().any(|text| text.len() > LONGEST) {
            return false;
        }
        let words = texts.map(words_of_text);
        let speaks = |names: &BTreeSet<String>| {
            names.iter().any(|name| words.iter().any(|words| stands(words, name)))
        };
        let of_kind = deed.families.meets(kind);
        if speaks(own) || (of_kind && !others.iter().any(|names| speaks(names))) {
            return false;
        }
        any |= of_kind;
    }
    any
}

/// The names in a claim, in lower case: words with a capital that are no words of the language.
fn names(said: &ActionClaim) -> BTreeSet<String> {
    let words = said.claim.text.split(|c: char| !c.is_alphanumeric());
    let named = words.filter(|word| {
        let capital = word.starts_with(|c: char| c.is_uppercase());
        let plain = word.chars().skip(1).all(char::is_lowercase);
        word.len() >= SHORTEST && capital && plain && Lexicon::english().get(word).is_none()
    });
    named.map(str::to_lowercase).collect()
}
