//! The values that answers state, and the texts that they may come from.

mod any_case;
mod figure;
mod given;
mod json_string;
mod leaves;
mod sibling;
mod signs;
mod stated;
mod stretch;
mod tally;
mod word_search;

pub(crate) use any_case::{AnyCase, holds};
pub(crate) use figure::each_figure;
pub(crate) use given::{Given, Source, Text};
pub(crate) use leaves::{Leaf, Leaves, Node};
pub(crate) use sibling::misquoted;
pub(crate) use signs::Signs;
pub(crate) use stated::{Stated, stated};
pub(crate) use tally::{Countable, Tally, list_of, whole};
pub(crate) use word_search::WordSearch;
