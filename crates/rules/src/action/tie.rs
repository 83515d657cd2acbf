//! Whether a deed that may have been what is claimed has anything to do with it.

use super::extract::ActionClaim;
use super::judge::{args, stem};
use crate::facts::{Deed, Execution, Facts, words_of};
use crate::prose::Lexicon;
use crate::values::holds;

/// So many letters of a word tell it from others, whatever its ending.
const LETTERS: usize = 5;

/// Whether a deed has anything in common with what is claimed: its tool, what it was given, and
/// what it answered speak of the thing, or of the act.
pub(super) fn is_tied(
    facts: &Facts<'_>,
    said: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    let known = deed.shell.is_none() && !deed.opaque && !deed.delegates && deed.written.is_empty();
    if !known || said.stem.is_some() || said.things.is_empty() {
        return true;
    }
    let tool = facts.transcript().catalog.get(execution.tool());
    let about = tool.map_or("", |tool| tool.description.as_str());
    let texts = [deed.tool.as_ref(), args(execution), execution.text(), about];
    let speaks = |word: &str| {
        let head = word.get(..word.floor_char_boundary(LETTERS)).unwrap_or(word);
        texts.iter().any(|text| holds(text, head))
    };
    let object = |text: &str| {
        let text = text.trim_start_matches(['#', '$', '€', '£']);
        text.len() > 1 && texts.iter().any(|known| holds(known, text))
    };
    let english = |word: &String| Lexicon::english().get(word).is_some();
    !words_of(&deed.tool).iter().any(english)
        || said.things.iter().any(|thing| speaks(thing))
        || speaks(stem(&said.verb))
        || content(&said.claim.text).any(speaks)
        || said.claim.objects.iter().any(|known| object(&known.text))
}

/// The words of a claim that name things rather than join words.
fn content(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.filter(|word| {
        Lexicon::english()
            .get(word)
            .is_none_or(|entry| entry.tags.is_empty() || entry.noun.is_some())
    })
}
