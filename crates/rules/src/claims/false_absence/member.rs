//! What is said not to be there, where a result has a member of that very name with something in
//! it: "there are no fines", with `"fines": "£1.80"`.

use super::{Absent, MOST_CALLS};
use crate::facts::{Deed, Execution, Facts};
use crate::values::{Figure, Leaf, Leaves, holds};

/// The latest result that has such a member, its name, and what it holds; `None` where something
/// that was changed since may have emptied it.
pub(super) fn shown<'f, 't>(
    facts: &'f Facts<'t>,
    turn: usize,
    absent: &Absent,
) -> Option<(&'f Execution<'t>, String)> {
    if absent.generic || absent.noun.len() < 4 {
        return None;
    }
    for (execution, deed) in facts.deeds_before(turn).take(MOST_CALLS) {
        if deed.shell.is_some() || deed.delegates {
            return None;
        }
        // What a change answers is how things are behind it.
        let member = member(execution.text(), &absent.noun);
        if member.is_none() && deed.changes() && speaks_of(execution, deed, &absent.noun) {
            return None;
        }
        if let Some(held) = member {
            let covered = |word: &String| {
                holds(execution.text(), word)
                    || execution.call.is_some_and(|call| holds(call.arguments.as_str(), word))
            };
            let held = held.filter(|_| absent.which.iter().all(covered))?;
            return Some((execution, held));
        }
    }
    None
}

/// Whether a call is about the thing.
pub(super) fn speaks_of(execution: &Execution<'_>, deed: &Deed<'_>, noun: &str) -> bool {
    let arguments = execution.arguments();
    deed.words().iter().any(|word| word.starts_with(noun))
        || holds(arguments, noun)
        || holds(execution.text(), noun)
}

/// What the only member of that name holds; `None` where there is none or another, `Some(None)`
/// where nothing is in it.
fn member(text: &str, noun: &str) -> Option<Option<String>> {
    let leaves = Leaves::of(text)?;
    let is = |name: &str| name.trim_end_matches('s').eq_ignore_ascii_case(noun);
    let mut named = leaves.nodes().iter().filter(|node| is(node.name));
    let (node, None) = (named.next()?, named.next()) else { return None };
    let some = |figure: Option<Figure>| figure.is_some_and(|figure| figure.0 != 0);
    Some(match node.leaf {
        Leaf::List(count) if count > 0 => Some(format!("a list of {count}")),
        Leaf::Number(number) if some(Figure::parse(number)) => Some(number.to_owned()),
        Leaf::Text(text) if some(Figure::of_money(text)) => Some(text.to_owned()),
        _ => None,
    })
}
