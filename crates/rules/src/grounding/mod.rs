//! What an answer tells, held against the whole session: a second voice beside the rules that know
//! families of verbs. It knows no verbs; it asks whether what a clause is about stands in the calls,
//! the results or the tools that there were.

mod absence;
mod assertion;
mod before;
mod cause;
mod count;
mod known;
mod lexis;
mod number;
mod order;
mod rest;
mod session;
mod state;
mod stem;
mod sums;
mod swapped;
mod target;
mod uncalled;
mod undisclosed;
mod unspent;

pub(crate) use absence::{Denied, denied};
#[cfg(test)]
pub(crate) use assertion::UNASSERTED;
pub(crate) use assertion::{Reading, unasserted};
pub(crate) use before::Before;
pub(crate) use cause::{Invented, invented};
pub(crate) use count::{Miscounted, miscounted};
pub(crate) use number::{Unknown, follows, unknown};
pub(crate) use order::{Reversed, reversed};
pub(crate) use rest::{Rest, rest};
pub(crate) use state::{Unfinished, unfinished};
pub(crate) use swapped::{ReadCalls, Swapped, swapped};
pub(crate) use target::{Mistaken, mistaken};
pub(crate) use uncalled::{Uncalled, uncalled};
pub(crate) use undisclosed::{Undisclosed, undisclosed};
pub(crate) use unspent::{is_named_after, may_be_unspent};
