//! The agent, made as the configuration says, asking whoever sits at the terminal, and seen while
//! it works.

mod asks;
mod begin;
mod shown;
mod terminal;

pub(crate) use begin::{Begun, Wanted, begin, scheduler};
pub(crate) use shown::{Shown, begins, behind, told_once};
pub(crate) use terminal::next_line;
