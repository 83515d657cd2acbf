//! What the results say of a thing that is named by its id.

use std::collections::BTreeMap;

use super::figure::Figure;
use super::given::Given;
use super::leaves::{Leaf, Leaves};

/// So many bytes before a message are searched for what is said of a thing.
const REACH: usize = 64 * 1024;
/// So many values of one kind are kept of a thing.
const MOST: usize = 64;

/// The numbers that results hold of one thing.
#[derive(Debug, Default)]
pub(crate) struct Entity {
    /// By the name of the member: its own numbers, each once.
    pub(crate) own: BTreeMap<String, Vec<Figure>>,
    /// By the name of the member: the numbers of lists that belong to it, in order, newest result
    /// first.
    pub(crate) lists: Vec<(String, Vec<Figure>)>,
}

impl Entity {
    /// What the results before a message say of the thing with this id.
    pub(super) fn of(given: &Given<'_>, id: &str, turn: usize) -> Self {
        let mut entity = Self::default();
        for document in given.documents(id, turn, REACH) {
            for (at, node) in document.nodes().iter().enumerate() {
                let named = match node.leaf {
                    Leaf::Object => node.name == id && !id.is_empty(),
                    leaf => leaf.is_id(id),
                };
                if named {
                    let object = if node.leaf == Leaf::Object { at } else { node.parent };
                    entity.add(&document, object);
                }
            }
        }
        entity
    }

    /// Adds what an object holds: numbers of its own, also of an object in it, and columns of
    /// lists in it.
    fn add(&mut self, document: &Leaves<'_>, object: usize) {
        let nodes = document.nodes();
        let parent = |at: usize| nodes.get(at).map_or(at, |node| node.parent);
        // Things of one kind have members of the same names.
        let mut names: Vec<(&str, bool)> = Vec::new();
        let mut counts = |name| {
            let known = names.iter().find(|(known, _)| *known == name).map(|(_, counts)| *counts);
            known.unwrap_or_else(|| {
                let found = counts(name);
                names.push((name, found));
                found
            })
        };
        let mut lists: BTreeMap<(usize, &str), Vec<Figure>> = BTreeMap::new();
        for (_, node) in document.within(object) {
            let Some(figure) = number(node.leaf) else { continue };
            let above = parent(node.parent);
            let listed = nodes.get(above).is_some_and(|n| matches!(n.leaf, Leaf::List(_)));
            let inner = listed && parent(above) == object;
            if (node.parent != object && above != object && !inner) || counts(node.name) {
                continue;
            }
            let group = nodes.get(node.parent).is_some_and(|n| counts(n.name));
            if node.parent == object || (above == object && !listed && !group) {
                match self.own.get_mut(node.name) {
                    Some(own) if own.len() >= MOST || own.contains(&figure) => {}
                    Some(own) => own.push(figure),
                    None => {
                        self.own.insert(node.name.to_owned(), vec![figure]);
                    }
                }
            } else if inner {
                lists.entry((above, node.name)).or_default().push(figure);
            }
        }
        for ((_, name), mut figures) in lists {
            figures.truncate(MOST);
            let list = (name.to_owned(), figures);
            if self.lists.len() < MOST && !self.lists.contains(&list) {
                self.lists.push(list);
            }
        }
    }
}

/// Whether a member's name says that it counts or numbers things, which are no amounts.
fn counts(name: &str) -> bool {
    const STEMS: [&str; 20] = [
        "seat", "count", "quantit", "avail", "stock", "number", "id", "age", "year", "month",
        "day", "hour", "minute", "duration", "rating", "score", "zip", "code", "index", "bag",
    ];
    let mut before = ' ';
    name.char_indices().any(|(at, c)| {
        let begins = !before.is_ascii_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        before = c;
        let word = name.get(at..).unwrap_or_default();
        let is = |stem: &str| word.get(..stem.len()).is_some_and(|w| w.eq_ignore_ascii_case(stem));
        begins && STEMS.iter().any(|stem| is(stem))
    })
}

fn number(leaf: Leaf<'_>) -> Option<Figure> {
    match leaf {
        Leaf::Number(number) => Figure::parse(number),
        Leaf::Text(text) => Figure::of_money(text),
        _ => None,
    }
}
