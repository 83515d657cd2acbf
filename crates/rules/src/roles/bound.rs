use std::rc::Rc;

use super::named::{Named, environment, is_word_in};
use crate::action::behind_ids;
use crate::facts::{Execution, Facts};
use crate::prose::sets;
use crate::values::{Leaf, Leaves};

/// So many bytes before a claim are searched for what kind a name is of.
const REACH: usize = 64 * 1024;
/// A longer text is no name.
const LONGEST: usize = 60;

/// What a call holds: what it was given, what it answered, and what was read before of its ids.
pub(super) struct Bound {
    /// Names of members and their values, as texts.
    members: Vec<(String, String)>,
    /// The name of its tool, lower case.
    tool: String,
    texts: [String; 3],
}

impl Bound {
    pub(super) fn of(facts: &Facts<'_>, at: usize, execution: &Execution<'_>) -> Self {
        let args = execution.arguments();
        let behind: Rc<str> = behind_ids(facts, at, execution);
        let mut members = Vec::new();
        if let Some(leaves) = Leaves::of(args) {
            add(&leaves, &mut members);
        }
        let texts = [args.to_owned(), execution.text().to_owned(), behind.to_string()];
        let tool = execution.tool().to_ascii_lowercase();
        Self { members, tool, texts }
    }

    /// Whether anything in it speaks of the thing.
    pub(super) fn speaks_of(&self, named: &Named) -> bool {
        self.texts.iter().any(|text| named.stands_in(text))
    }

    /// The number that stands behind the same word, under a member of its name, or as the id for a
    /// tool of its name: 8, of `cancel_order {"id": 8}`.
    pub(super) fn other_number(&self, head: &str) -> Option<String> {
        let under = self.members.iter().find(|(name, value)| {
            let last = name.rsplit('_').find(|part| !["id", "number", "no", "name"].contains(part));
            let last = last.or_else(|| is_word_in(&self.tool, head).then_some(head));
            last == Some(head) && value.bytes().any(|b| b.is_ascii_digit()) && value.len() <= 5
        });
        let under = under.map(|(_, value)| format!("{head} {value}"));
        under.or_else(|| {
            let values = self.members.iter().map(|(_, value)| value);
            values.into_iter().find_map(|value| numbered(value, head))
        })
    }

    /// Another environment among what it was given.
    pub(super) fn other_environment(&self, own: usize) -> Option<String> {
        let values = self.members.iter().map(|(_, value)| value.as_str());
        let mut words = values.flat_map(|value| value.split(|c: char| !c.is_alphanumeric()));
        let other = words.find(|word| environment(word).is_some_and(|other| other != own));
        other.map(str::to_owned)
    }

    /// What stands in the role of a name: under the name of the member under which the record has
    /// the named one, or where it says for whom something is done.
    pub(super) fn other_name(
        &self,
        facts: &Facts<'_>,
        named: &Named,
        turn: usize,
    ) -> Option<String> {
        let roles = roles_of(facts, named, turn);
        let fits = |member: &str| {
            roles.iter().any(|role| is_same_role(role, member))
                || (roles.iter().any(|role| is_whom(role)) && is_whom(member))
        };
        let own = self.members.iter().find(|(name, value)| fits(name) && is_a_name(value));
        own.map(|(_, value)| value.clone())
    }
}

/// "Dock 3" in a text, for "dock".
fn numbered(text: &str, head: &str) -> Option<String> {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let found = words.find(|word| word.eq_ignore_ascii_case(head))?;
    let tail = words.next()?;
    let digit = tail.len() <= 5 && tail.bytes().any(|b| b.is_ascii_digit());
    digit.then(|| format!("{found} {tail}"))
}

/// The short values of a JSON text with the names of their members, lower case; the members of a
/// list have the name of the list.
fn add(leaves: &Leaves<'_>, members: &mut Vec<(String, String)>) {
    let nodes = leaves.nodes();
    for node in nodes {
        let (Leaf::Text(value) | Leaf::Number(value)) = node.leaf else { continue };
        let parent = nodes.get(node.parent).map_or("", |parent| parent.name);
        let name = if node.name.is_empty() { parent } else { node.name };
        if value.len() <= LONGEST {
            members.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
}

/// The names of the members under which the record has a name.
fn roles_of(facts: &Facts<'_>, named: &Named, turn: usize) -> Vec<String> {
    let Some(word) = named.words().next() else { return Vec::new() };
    let mut roles = Vec::new();
    for document in facts.given().documents(word, turn, REACH) {
        let mut members = Vec::new();
        add(&document, &mut members);
        let holds = |value: &str| named.words().all(|word| is_word_in(value, word));
        roles.extend(members.into_iter().filter(|(_, value)| holds(value)).map(|(name, _)| name));
    }
    roles.sort();
    roles.dedup();
    roles
}

/// `tenant` and `tenant_name`.
fn is_same_role(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        name.trim_end_matches("_name").trim_end_matches("_id").trim_end_matches('s').to_owned()
    };
    one == other || plain(one) == plain(other)
}

fn is_whom(member: &str) -> bool {
    let whom = sets::FOR_WHOM.list.iter();
    whom.into_iter().any(|known| *known == member || member.ends_with(&format!("_{known}")))
}

/// A value that may name somebody or something: letters, no sentence.
fn is_a_name(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 3 && value.split_whitespace().count() <= 5 && !value.contains(['\n', '{'])
}
