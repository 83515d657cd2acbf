//! Whether a deed that may have been what is claimed has anything to do with it.

use countersign_model::Family;

use super::extract::ActionClaim;
use super::judge::{args, stem};
use super::state::state_stem;
use crate::facts::{Deed, Execution, Facts, Families, words_of};
use crate::prose::Lexicon;
use crate::values::holds;

/// So many letters of a word tell it from others, whatever its ending.
const LETTERS: usize = 5;
/// So many bytes of what the agent was given are searched for what an id stands for.
const REACH: usize = 32 * 1024;
/// Shorter words of arguments stand everywhere.
const SHORTEST_ID: usize = 4;

/// Whether a deed has anything in common with what is claimed: its tool, what it was given, and
/// what it answered speak of the thing or of the act, or it was given an id of which something
/// read before says that it is the thing.
pub(super) fn is_tied(
    facts: &Facts<'_>,
    said: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    let known = deed.shell.is_none()
        && !deed.opaque
        && !deed.delegates
        && deed.written.is_empty()
        && !deed.edits_files();
    let english = |word: &String| Lexicon::english().get(word).is_some();
    let additional = is_additional(&said.claim.text);
    if !known || said.stem.is_some() || is_kin(said.family, deed.families) {
        return true;
    }
    if said.things.is_empty() && !additional {
        return is_open(said.family) || names_act(facts, said, execution, deed);
    }
    let tool = facts.transcript().catalog.get(execution.tool());
    let about = tool.map_or("", |tool| tool.description.as_str());
    let texts = [deed.tool.as_ref(), args(execution), execution.text(), about];
    let head =
        |word: &str| word.get(..word.floor_char_boundary(LETTERS)).unwrap_or(word).to_owned();
    // Members of every service's answers are called so.
    let common = |word: &str| ["message", "status", "detail", "result", "error"].contains(&word);
    let speaks = |word: &str| !common(word) && texts.iter().any(|text| holds(text, &head(word)));
    let object = |text: &str| {
        let text = text.trim_start_matches(['#', '$', '€', '£']);
        text.len() > 1 && texts.iter().any(|known| holds(known, text))
    };
    let named = [deed.tool.as_ref(), args(execution), about];
    let in_call = |word: &str| named.iter().any(|text| holds(text, &head(word)));
    let heads = || said.things.iter().map(|thing| head(thing)).collect::<Vec<String>>();
    // "I've also …": a second act has a call of its own, that is made for it.
    if additional {
        let verb = head(stem(&said.verb));
        let words = words_of(&deed.tool);
        if !words.iter().any(english) {
            return true;
        }
        let does = words.iter().any(|word| head(word).starts_with(&verb));
        let mut named: Vec<&str> = said.things.iter().map(String::as_str).collect();
        if named.is_empty() {
            named.extend(content(&said.claim.text).filter(|word| !word.starts_with(&said.verb)));
        }
        return does || named.is_empty() || named.into_iter().any(in_call);
    }
    said.things.iter().any(|thing| speaks(thing))
        || speaks(stem(&said.verb))
        || content(&said.claim.text).any(speaks)
        || said.claim.objects.iter().any(|known| object(&known.text))
        || !words_of(&deed.tool).iter().any(english)
        || stands_for(facts, execution, &heads())
}

/// Whether an act may be done by deeds of any other name: a change, a payment.
fn is_open(family: Family) -> bool {
    use Family as F;
    !matches!(family, F::Refund | F::Cancel | F::Return | F::Exchange | F::Delete)
}

/// Whether a deed of another kind speaks of the act: `{"status": "refunded"}`.
fn names_act(
    facts: &Facts<'_>,
    said: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    let tool = facts.transcript().catalog.get(execution.tool());
    let about = tool.map_or("", |tool| tool.description.as_str());
    let texts = [deed.tool.as_ref(), args(execution), execution.text(), about];
    let verb = stem(&said.verb);
    let verb = verb.get(..verb.floor_char_boundary(LETTERS)).unwrap_or(verb);
    let state = state_stem(said.family).into_iter();
    // Where something is paid, the difference may be paid back.
    let paid = (said.family == Family::Refund).then_some("payment");
    state.chain([verb]).chain(paid).any(|word| texts.iter().any(|text| holds(text, word)))
}

/// Whether an act is told of as one more.
fn is_additional(text: &str) -> bool {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let well = words.windows(2).any(|pair| matches!(pair, ["as", "well"]));
    well || words.iter().any(|word| matches!(*word, "also" | "Also" | "too" | "additionally"))
}

/// Whether services call the one act by the name of the other.
fn is_kin(claimed: Family, done: Families) -> bool {
    use Family as F;
    done.meets(Families::of(match claimed {
        F::Cancel => &[F::Delete],
        F::Delete => &[F::Cancel],
        F::Book => &[F::Create],
        F::Refund => &[F::Return, F::Cancel],
        F::Return => &[F::Refund],
        _ => return false,
    }))
}

/// Whether an id among the arguments stands in something read before that speaks of the thing.
fn stands_for(facts: &Facts<'_>, execution: &Execution<'_>, heads: &[String]) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#');
    let ids: Vec<&str> = args(execution)
        .split(|c: char| !part(c))
        .filter(|word| word.len() >= SHORTEST_ID && word.bytes().any(|b| b.is_ascii_digit()))
        .collect();
    !ids.is_empty()
        && facts.given().near(execution.called_at, REACH).any(|given| {
            ids.iter().any(|id| given.text.contains(id))
                && heads.iter().any(|head| holds(given.text, head))
        })
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
