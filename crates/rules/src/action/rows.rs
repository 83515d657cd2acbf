//! What the rows of tables are about.

use counterfoil_model::{Object, ObjectKind};

use super::objects::objects_in;
use crate::prose::{BlockKind, Prose};

/// The row and the column of a sentence in a table.
fn place(prose: &Prose<'_>, sentence: usize) -> Option<(usize, usize)> {
    let sentence = prose.sentences.get(sentence)?;
    match prose.block_of(sentence)?.kind {
        BlockKind::Cell { row, column } => Some((row, column)),
        _ => None,
    }
}

/// The id in the first cell of a row, before a cell of it.
pub(super) fn named_in_row(prose: &Prose<'_>, sentence: usize) -> Vec<Object> {
    let Some((row, column)) = place(prose, sentence) else { return Vec::new() };
    let before = (0..sentence).rev().map(|at| (at, place(prose, at)));
    let mut cells = before.take_while(|(_, place)| place.is_some_and(|(other, _)| other == row));
    let first = cells.find(|(_, place)| place.is_some_and(|(_, column)| column == 0));
    let label = first.filter(|_| column > 0).and_then(|(at, _)| prose.sentences.get(at));
    let named = label.map(|label| objects_in(prose, label.tokens.clone())).unwrap_or_default();
    named.into_iter().filter(|o| o.kind == ObjectKind::Id).collect()
}
