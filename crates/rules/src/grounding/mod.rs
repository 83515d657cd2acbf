//! What an answer tells, held against the whole session: a second voice beside the rules that know
//! families of verbs. It knows no verbs; it asks whether what a clause is about stands in the calls,
//! the results or the tools that there were.

mod absence;
mod assertion;
mod before;
mod count;
mod known;
mod lexis;
mod number;
mod order;
mod rest;
mod session;
mod stem;
mod sums;
mod undisclosed;
mod unspent;

pub(crate) use absence::{Denied, denied};
#[cfg(test)]
pub(crate) use assertion::UNASSERTED;
pub(crate) use assertion::{Reading, unasserted};
pub(crate) use before::Before;
pub(crate) use count::{Miscounted, miscounted};
pub(crate) use number::follows;
pub(crate) use order::{Reversed, reversed};
pub(crate) use rest::{Rest, rest};
pub(crate) use undisclosed::{Undisclosed, undisclosed};
pub(crate) use unspent::{is_named_after, may_be_unspent};
