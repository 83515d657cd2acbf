//! The agent, made as the configuration says, asking whoever sits at the terminal, and seen while
//! it works.

mod asks;
mod begin;
mod shown;

pub(crate) use begin::{Begun, Wanted, begin, scheduler};
pub(crate) use shown::{Shown, behind, told_once};
