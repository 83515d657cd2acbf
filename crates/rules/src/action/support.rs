//! Decides whether the record supports a claimed action. A call proves only its own kind of deed,
//! on its own object, with its own outcome. If it falls short, the claim is not checkable.

use std::collections::BTreeSet;

use counterfoil_model::{Family, Object, ObjectKind};
use counterfoil_record::{status_by_opening, values};

use super::extract::ActionClaim;
use super::objects::mentions;
use super::words::{head, stem};
use crate::facts::{Deed, Execution, Facts, Families, LOOK_BACK, kindred, of_name, words_of};
use crate::prose::{Action, Lexicon};
use crate::values::{Leaf, Leaves, whole};

/// Whether the execution at an index shows the claimed action: its kind, its values and its
/// outcome.
pub(crate) fn is_supported(facts: &Facts<'_>, claimed: &ActionClaim, at: usize) -> bool {
    let Some((execution, deed)) = facts.deed(at) else { return false };
    let is_of_kind = match () {
        () if deed.is_note || !has_worked(execution, deed) => false,
        () if is_file_tool(deed) => writes_what_is_claimed(claimed, execution, deed),
        () if looks_only(deed) => shows_state(claimed, execution) || looks(claimed),
        () => {
            own_kinds(deed).meets(kindred(claimed.family)) || is_named_in_a_word(claimed, execution)
        }
    };
    is_of_kind
        && !is_left_open(claimed, execution.text())
        && claimed.claim.objects.iter().all(|object| has_value(execution, deed, object))
        && claimed_amount(&claimed.claim.text)
            .is_none_or(|amount| is_shown(facts, claimed, at, amount))
}

/// "both orders", "three tickets", "twice": how many times the claim says that it was done, or to
/// how many things.
fn claimed_amount(text: &str) -> Option<u64> {
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    let is_plural =
        |word: &&str| word.ends_with('s') && word.bytes().all(|b| b.is_ascii_alphabetic());
    words.iter().enumerate().find_map(|(at, word)| {
        // "three object files", not "3 of `a/b.rs`"
        let mut noun = words.iter().skip(at + 1).take(2);
        match *word {
            "both" | "twice" => Some(2),
            number => whole(number).filter(|n| *n > 1 && noun.any(is_plural)),
        }
    })
}

/// Whether the record shows that many: calls of this kind that succeeded, files written by one call,
/// or a number or a list of that length in the call or its result.
fn is_shown(facts: &Facts<'_>, claimed: &ActionClaim, at: usize, amount: u64) -> bool {
    let counts = |text: &str| {
        Leaves::any(text, |node| match node.leaf {
            Leaf::List(length) => length as u64 == amount,
            Leaf::Number(number) => whole(number) == Some(amount),
            _ => false,
        })
    };
    let enough = |(execution, deed): (&Execution<'_>, &Deed<'_>)| {
        deed.written.len() as u64 == amount
            || counts(execution.arguments())
            || counts(execution.text())
    };
    let of_kind = |(call, deed): &(&Execution<'_>, &Deed<'_>)| {
        has_worked(call, deed) && own_kinds(deed).meets(kindred(claimed.family))
    };
    let calls = facts.deeds_before(claimed.claim.turn).filter(of_kind);
    let made: Vec<&str> = calls.take(LOOK_BACK).map(|(call, _)| call.arguments()).collect();
    // A call that was made twice for one order is no call for two orders.
    let made = match claimed.claim.text.contains("twice") || claimed.claim.text.contains(" times") {
        true => made.len(),
        false => made.into_iter().collect::<BTreeSet<_>>().len(),
    };
    facts.deed(at).is_some_and(enough) || made as u64 >= amount
}

/// Whether the call succeeded, and its command does not complain: "rm: cannot remove 'a': …".
fn has_worked(execution: &Execution<'_>, deed: &Deed<'_>) -> bool {
    let complains = || {
        let (program, _) = execution.text().split_once(": ")?;
        let named = program.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b));
        (named && execution.arguments().contains(program)).then_some(())
    };
    let silent = || status_by_opening(execution.text()).is_none() && complains().is_none();
    deed.status().succeeded() && (deed.shell.is_none() || silent())
}

/// The families of a deed by its command or the name of its tool, because its arguments may contain
/// anything.
fn own_kinds(deed: &Deed<'_>) -> Families {
    if deed.shell.is_some() { deed.families } else { of_name(&deed.tool) }
}

/// `Write`, `apply_patch`: a tool whose kind of action only the file shows.
fn is_file_tool(deed: &Deed<'_>) -> bool {
    deed.shell.is_none() && deed.edits_files()
}

fn looks_only(deed: &Deed<'_>) -> bool {
    deed.shell.is_none() && !deed.changes()
}

fn looks(claimed: &ActionClaim) -> bool {
    matches!(claimed.family, Family::Read | Family::Search | Family::Compute)
}

/// Whether the claimed object is one of the written files, or code in the edit.
fn writes_what_is_claimed(
    claimed: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    let edits = matches!(claimed.family, Family::Create | Family::Update | Family::Move);
    let is_code = |object: &&Object| matches!(object.kind, ObjectKind::Name | ObjectKind::Quote);
    let mut code = claimed.claim.objects.iter().filter(is_code).peekable();
    if code.peek().is_some() && (edits || claimed.family == Family::Delete) {
        return code.all(|object| mentions(execution.arguments(), object));
    }
    let path = |object: &&Object| object.kind == ObjectKind::Path;
    let mut named = claimed.patients.iter().filter(path).peekable();
    let written = |object: &Object| deed.written.iter().any(|file| mentions(file, object));
    // "I updated the changelog": `docs/CHANGELOG.md`
    let by_word = || {
        let named = |thing: &String| {
            let file = |file: &String| file.to_ascii_lowercase().contains(head(thing));
            deed.written.iter().any(file)
        };
        claimed.things.iter().any(named)
    };
    edits && if named.peek().is_some() { named.all(written) } else { by_word() }
}

/// `{"status": "cancelled"}`: whether an argument names the action in one or two words.
fn is_named_in_a_word(claimed: &ActionClaim, execution: &Execution<'_>) -> bool {
    has_short_leaf(execution.arguments(), head(stem(&claimed.verb)))
}

/// "The order is cancelled", by anyone: whether the result names the state in one or two words.
fn shows_state(claimed: &ActionClaim, execution: &Execution<'_>) -> bool {
    !claimed.is_own() && has_short_leaf(execution.text(), head(stem(&claimed.verb)))
}

/// Whether a result says that the action did not happen, or not yet: `{"sent": false}`,
/// `{"sent_count": 0}`, `{"status": "bounced"}`. In a longer result, a status may belong to
/// something else.
fn is_left_open(claimed: &ActionClaim, result: &str) -> bool {
    const FEW: usize = 4;
    let Some(leaves) = Leaves::parse(result) else { return false };
    let verb = head(stem(&claimed.verb));
    let of_act = |word: &String| word.starts_with(verb) || *word == claimed.verb;
    let is_none = |leaf: Leaf<'_>| match leaf {
        Leaf::Flag(flag) => !flag,
        Leaf::Number(number) => number == "0",
        leaf => leaf == Leaf::Void,
    };
    let done = |state: &str| {
        let state = state.to_ascii_lowercase();
        let entry = Lexicon::english().get(&state).and_then(|entry| entry.verb);
        of_act(&state)
            || entry == Some(Action::Of(claimed.family))
            || ["ok", "success", "successful", "completed", "done"].contains(&state.as_str())
    };
    let few = leaves.nodes().len() <= FEW;
    leaves.nodes().iter().any(|node| match node.leaf {
        Leaf::Text(state) => few && matches!(node.name, "status" | "state") && !done(state),
        leaf => is_none(leaf) && words_of(node.name).iter().any(of_act),
    })
}

fn has_short_leaf(json: &str, word: &str) -> bool {
    const MOST_WORDS: usize = 2;
    let is_it = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let short = words.clone().count() <= MOST_WORDS;
        short && words.any(|own| own.to_ascii_lowercase().starts_with(word))
    };
    Leaves::any(json, |node| matches!(node.leaf, Leaf::Text(text) if is_it(text)))
}

/// Whether the call has the values of an object that the claim names, in its arguments, its written
/// files or its result. Words are not compared, nor is anything beyond the beginning of a long
/// text.
fn has_value(execution: &Execution<'_>, deed: &Deed<'_>, object: &Object) -> bool {
    const READ: usize = 64 * 1024;
    let mut missing = values(&object.text);
    let written = deed.written.iter().map(String::as_str);
    let mut texts = std::iter::once(execution.arguments()).chain(written).chain([execution.text()]);
    while !missing.is_empty() {
        let Some(text) = texts.next() else { return false };
        let recorded = values(text.get(..text.floor_char_boundary(READ)).unwrap_or_default());
        missing.retain(|value| !recorded.iter().any(|known| value.same(known)));
    }
    true
}
