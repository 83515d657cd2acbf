//! Values: those that answers state, and what the agent was given that they may come from.

mod any_case;
mod combined;
mod derived;
mod entity;
mod figure;
mod given;
mod json_string;
mod labelled;
mod leaves;
mod line;
mod moment;
mod phrase;
mod sheet;
mod sibling;
mod stated;
mod stretch;
mod tally;
mod word_search;
mod worth;

pub(crate) use any_case::{AnyCase, holds};
pub(crate) use combined::Combined;
pub(crate) use derived::Sources;
pub(crate) use figure::{Figure, each_figure};
pub(crate) use given::{Given, Source, Text};
pub(crate) use json_string::end_of_string;
pub(crate) use labelled::Labels;
pub(crate) use leaves::{Leaf, Leaves};
pub(crate) use line::unseen_line;
pub(crate) use moment::{Moment, When, each_moment};
pub(crate) use phrase::Phrase;
pub(crate) use sibling::{misquoted, sibling};
pub(crate) use stated::{Stated, StatedKind, stated};
pub(crate) use tally::{Countable, Tally, list_of, longest_list, whole};
pub(crate) use word_search::WordSearch;
pub(crate) use worth::{Named, is_misquoted};
