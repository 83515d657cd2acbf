//! What the record says of the things that a call names by their ids.

use std::rc::Rc;

use super::judge::args;
use crate::facts::{Execution, Facts};
use crate::values::{Leaf, Leaves};

/// So many bytes before a call are searched for what its ids stand for.
const REACH: usize = 32 * 1024;
/// So many ids of one call are looked up.
const MOST: usize = 4;
/// Shorter words stand everywhere.
const SHORTEST: usize = 2;
/// A longer text is no name.
const LONGEST: usize = 80;

/// The texts and numbers that earlier results hold beside the ids in the arguments of a call, each
/// in a line of its own: "Boxing Basics", where it cancels `B-9950`.
pub(crate) fn behind_ids(facts: &Facts<'_>, at: usize, execution: &Execution<'_>) -> Rc<str> {
    facts.index().behind_ids(at, || read(facts, execution))
}

/// The words among arguments that may be ids: with digits in them, or addresses of mail.
fn ids_in(arguments: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let addresses = arguments.split(|c: char| c.is_whitespace() || "\"\\,;<>()".contains(c));
    let addresses = addresses.filter(|word| word.find('@').is_some_and(|at| at > 0));
    let words = arguments.split(move |c: char| !part(c)).filter(|word| {
        let letters = word.bytes().any(|b| b.is_ascii_alphabetic());
        word.len() >= SHORTEST
            && word.bytes().any(|b| b.is_ascii_digit())
            && (letters || word.len() > SHORTEST)
    });
    addresses.chain(words)
}

fn read(facts: &Facts<'_>, execution: &Execution<'_>) -> String {
    let mut found = String::new();
    for id in ids_in(args(execution)).take(MOST) {
        for document in facts.given().documents(id, execution.called_at, REACH) {
            if let Some(object) = named(&document, id) {
                add(&document, object, &mut found);
            }
        }
    }
    found
}

/// The one object of a result that has the id among its own members.
fn named(document: &Leaves<'_>, id: &str) -> Option<usize> {
    let mut objects =
        document.nodes().iter().filter(|node| node.leaf.is_id(id)).map(|node| node.parent);
    let first = objects.next()?;
    objects.all(|other| other == first).then_some(first)
}

/// Adds the short texts and the numbers of an object.
fn add(document: &Leaves<'_>, object: usize, found: &mut String) {
    let own = document.nodes().iter().filter(|node| node.parent == object);
    for node in own {
        if let Leaf::Text(text) | Leaf::Number(text) = node.leaf
            && text.len() <= LONGEST
        {
            found.push_str(text);
            found.push('\n');
        }
    }
}
