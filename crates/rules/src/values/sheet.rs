//! A JSON result as a sheet: its objects are rows, the names of their members are columns.

use std::collections::HashMap;

use super::leaves::{Leaf, Leaves, Node};
use super::stated::CURRENCIES;
use crate::facts::words_of;

/// The members of a JSON text by name.
#[derive(Debug, Default)]
pub(crate) struct Sheet<'t> {
    /// The execution whose result it is.
    pub(crate) execution: usize,
    columns: Vec<Column<'t>>,
}

/// The members of one name.
#[derive(Debug)]
pub(crate) struct Column<'t> {
    /// The name as written.
    pub(crate) name: &'t str,
    /// Its words, in lower case.
    pub(crate) words: Vec<String>,
    /// Each value with the object that it belongs to: a member of an object that is itself the
    /// only one of its name belongs to the outer object, too.
    pub(crate) cells: Vec<(usize, Leaf<'t>)>,
}

impl Column<'_> {
    /// Whether its name says that its values are amounts of money.
    pub(crate) fn is_amount(&self) -> bool {
        const WORDS: [&str; 16] = [
            "price", "cost", "amount", "total", "fee", "balance", "salary", "fare", "rent",
            "charge", "premium", "deposit", "tax", "payment", "refund", "subtotal",
        ];
        // `value_dkk`
        let currency = |word: &String| {
            word.len() == 3
                && word != "try"
                && CURRENCIES.contains(&word.to_ascii_uppercase().as_str())
        };
        self.words.iter().any(|word| WORDS.contains(&word.trim_end_matches('s')) || currency(word))
    }
}

impl<'t> Sheet<'t> {
    pub(crate) fn of(leaves: &Leaves<'t>, execution: usize) -> Self {
        let mut sheet = Self { execution, columns: Vec::new() };
        let mut places: HashMap<&str, usize> = HashMap::new();
        let nodes = leaves.nodes();
        for node in nodes {
            if node.name.is_empty() || matches!(node.leaf, Leaf::Object | Leaf::List(_)) {
                continue;
            }
            let place = *places.entry(node.name).or_insert_with(|| {
                let words = words_of(node.name);
                sheet.columns.push(Column { name: node.name, words, cells: Vec::new() });
                sheet.columns.len() - 1
            });
            let Some(column) = sheet.columns.get_mut(place) else { continue };
            for object in owners(nodes, node) {
                column.cells.push((object, node.leaf));
            }
        }
        sheet
    }

    /// All columns.
    pub(crate) fn columns(&self) -> &[Column<'t>] {
        &self.columns
    }

    /// Whether an object has a member that is one of these words.
    pub(crate) fn says(&self, object: usize, words: &[&str]) -> bool {
        let said = |leaf: &Leaf<'_>| match leaf {
            Leaf::Text(text) => words.iter().any(|word| text.eq_ignore_ascii_case(word)),
            _ => false,
        };
        let mut cells = self.columns.iter().flat_map(|column| &column.cells);
        cells.any(|(owner, leaf)| *owner == object && said(leaf))
    }
}

/// The object that a member stands in, and those around it that hold it under a name.
fn owners<'n>(nodes: &'n [Node<'_>], node: &Node<'_>) -> impl Iterator<Item = usize> + 'n {
    let mut next = Some(node.parent);
    std::iter::from_fn(move || {
        let here = next?;
        let object = nodes.get(here).filter(|node| node.leaf == Leaf::Object)?;
        next = (!object.name.is_empty() && object.parent != here).then_some(object.parent);
        Some(here)
    })
}
