//! Results that list what a call did not do: `{"updated": ["A-1"], "rejected": ["A-2"]}`.

use counterfoil_model::{Object, ObjectKind};

use super::extract::ActionClaim;
use super::judge::{LOOK_BACK, args};
use super::objects::{Sought, needle};
use super::tie::{head, stem};
use crate::facts::{Facts, Families};
use crate::prose::sets;
use crate::values::{Leaf, Leaves};

/// The latest call for something that is said to have been acted on, where its result lists that
/// very thing as left out.
pub(super) fn left_out(
    facts: &Facts<'_>,
    said: &ActionClaim,
    accepted: Families,
    vouching: Option<usize>,
) -> Option<usize> {
    let count = facts.record().count_before(said.claim.turn);
    let named = said.patients.iter().filter(|thing| match thing.kind {
        ObjectKind::Id => true,
        // "1902" of `JJD-0044-1902`
        ObjectKind::Number => thing.text.len() >= 3,
        _ => false,
    });
    named
        .filter_map(|thing| {
            let sought = Sought::of(thing);
            // Most often it is the one that vouches.
            let mut near = vouching.into_iter().chain((0..count).rev().take(LOOK_BACK));
            let latest = near.find(|at| {
                facts.deed(*at).is_some_and(|(execution, deed)| {
                    deed.families.meets(accepted) && sought.stands_in(args(execution))
                })
            })?;
            let leaves = facts.leaves(latest)?;
            is_left_out(&leaves, thing, &said.verb).then_some(latest)
        })
        .next()
}

/// Whether a result lists the thing as left out, and not among the others as well. What a call was
/// made to reject is not left out.
fn is_left_out(leaves: &Leaves<'_>, thing: &Object, verb: &str) -> bool {
    let nodes = leaves.nodes();
    if !nodes.iter().any(|node| opens(node.name, node.leaf, verb)) {
        return false;
    }
    // What stands in a list of such a name, and all the rest.
    let (mut inside, mut outside) = (false, false);
    let mut end = 0;
    for (at, node) in nodes.iter().enumerate() {
        if at >= end && opens(node.name, node.leaf, verb) {
            end = at + 1 + leaves.within(at).count();
        }
        let here = match node.leaf {
            Leaf::Text(text) | Leaf::Number(text) => is_thing(text, thing),
            _ => false,
        };
        if here || is_thing(node.name, thing) {
            *(if at < end { &mut inside } else { &mut outside }) = true;
        }
    }
    inside && !outside
}

/// Whether a value is the thing: its id, or one that ends in its number.
fn is_thing(text: &str, thing: &Object) -> bool {
    let wanted = needle(thing);
    let text = text.trim_start_matches('#');
    let ends = |rest: &str| rest.ends_with(|c: char| !c.is_alphanumeric());
    text.eq_ignore_ascii_case(wanted)
        || (thing.kind == ObjectKind::Number && text.strip_suffix(wanted).is_some_and(ends))
}

/// Whether a member lists what was left out.
fn opens(name: &str, leaf: Leaf<'_>, verb: &str) -> bool {
    if !matches!(leaf, Leaf::List(1..)) {
        return false;
    }
    let plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
    sets::LEFT_OUT_LISTS.list.contains(&plain.as_str()) && head(&plain) != head(stem(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_as_left_out() {
        let id = Object { kind: ObjectKind::Id, text: "A-2".to_owned() };
        for (text, expected) in [
            (r#"{"updated": ["A-1"], "rejected": ["A-2"]}"#, true),
            (r#"{"updated": ["A-1"], "not_found": [{"id": "A-2", "why": "gone"}]}"#, true),
            (r#"{"updated": ["A-1", "A-2"], "rejected": []}"#, false),
            (r#"{"updated": ["A-2"], "errors": ["A-1 is like A-2"]}"#, false),
            (r#"{"rejected": ["A-1"], "updated": ["A-2"]}"#, false),
            ("A-2 was rejected", false),
            (r#"{"updated": 1, "rejected": ["A-20"]}"#, false),
            (r#"{"invalidated": ["A-2"]}"#, false),
        ] {
            let found = Leaves::of(text).is_some_and(|all| is_left_out(&all, &id, "updated"));
            assert_eq!(found, expected, "{text}");
        }
        let rejected = Leaves::of(r#"{"rejected": ["A-2"]}"#).unwrap();
        assert!(!is_left_out(&rejected, &id, "rejected"));
    }
}
