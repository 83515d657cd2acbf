//! Calls that each vouch for one claim only: "I emailed Ingrid. I also emailed Tomas.", after one
//! mail to Ingrid.

use std::collections::BTreeSet;

use counterfoil_model::Family;

use super::extract::ActionClaim;
use super::judge::ActionVerdict;
use super::other_thing::{stands, words_of_call};
use crate::facts::{Facts, Families};
use crate::prose::Lexicon;

/// A shorter word is no name.
const SHORTEST: usize = 3;
/// So many calls since the user asked, and so many names of one message, are held against each other.
const MOST: usize = 64;

/// Takes its support from each claim that names somebody or something for which no call of its kind
/// was made, where all such calls were made for what other claims of the message name.
pub(crate) fn consume(facts: &Facts<'_>, claims: &[ActionClaim], verdicts: &mut [ActionVerdict]) {
    let named = claims.iter().enumerate().map(|(at, said)| (at, said, names(said)));
    let named: Vec<_> = named.filter(|(_, _, names)| !names.is_empty()).collect();
    let kind = |said: &ActionClaim| (said.claim.turn, said.family);
    let kinds: BTreeSet<(usize, Family)> = named.iter().map(|(_, said, _)| kind(said)).collect();
    for (turn, family) in kinds {
        let alike = || named.iter().filter(|(_, said, _)| kind(said) == (turn, family));
        let all: BTreeSet<&str> =
            alike().flat_map(|(_, _, names)| names.iter().map(String::as_str)).collect();
        if alike().nth(1).is_none() || all.len() > MOST {
            continue;
        }
        let Some(calls) = calls(facts, turn, family, &all) else { continue };
        for (at, said, own) in alike() {
            let Some(verdict) = verdicts.get_mut(*at) else { continue };
            let supported = matches!(verdict, ActionVerdict::Supported(Some(_)));
            if supported && said.direct && are_taken(&calls, own) {
                *verdict = ActionVerdict::Absent(false);
            }
        }
    }
}

/// A call that changed something.
struct Call<'n> {
    /// It is of the kind that is claimed.
    of_kind: bool,
    /// The names that stand in it, or beside the ids that it was given.
    names: BTreeSet<&'n str>,
}

/// The calls since the user asked that changed something; `None` where they do not tell for whom.
fn calls<'n>(
    facts: &Facts<'_>,
    turn: usize,
    family: Family,
    all: &BTreeSet<&'n str>,
) -> Option<Vec<Call<'n>>> {
    let since = facts.request_before(turn);
    let kind = Families::of(&[family]);
    let mut calls = Vec::new();
    for at in (0..facts.record().count_before(turn)).rev() {
        let (execution, deed) = facts.deed(at)?;
        if execution.called_at < since {
            break;
        }
        let known = deed.shell.is_none() && !deed.opaque && !deed.delegates;
        if !known || deed.families.is_empty() || calls.len() == MOST {
            return None;
        }
        if !deed.changes() || !deed.status().succeeded() {
            continue;
        }
        let words = words_of_call(facts, at, execution, deed);
        let words = (*words).as_ref()?;
        let held = |name: &&&str| words.iter().any(|words| stands(words, name));
        let names = all.iter().filter(held).copied().collect();
        calls.push(Call { of_kind: deed.families.meets(kind), names });
    }
    Some(calls)
}

/// Whether every call of the kind was made for what others name, and none for one of these names.
fn are_taken(calls: &[Call<'_>], own: &BTreeSet<String>) -> bool {
    let of_own = |call: &Call<'_>| own.iter().any(|name| call.names.contains(name.as_str()));
    let mut of_kind = calls.iter().filter(|call| call.of_kind).peekable();
    of_kind.peek().is_some()
        && of_kind.all(|call| !call.names.is_empty())
        && !calls.iter().any(of_own)
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
