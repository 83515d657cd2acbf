//! What an answer tells, held against the whole session: a second voice beside the rules that know
//! families of verbs. It knows no verbs; it asks whether what a clause is about stands in the calls,
//! the results or the tools that there were.

mod absence;
mod assertion;
mod cause;
mod count;
mod lexis;
mod number;
mod order;
mod rest;
mod session;
mod state;
mod stem;
mod sums;
mod swap;
mod target;
mod uncalled;
mod unspent;

pub(crate) use absence::{Denied, denied};
pub(crate) use assertion::is_asserted;
pub(crate) use cause::{Invented, invented};
pub(crate) use count::{Miscounted, miscounted};
pub(crate) use lexis::is_small;
pub(crate) use number::{Unknown, follows, unknown};
pub(crate) use order::{Reversed, reversed};
pub(crate) use rest::{Rest, rest};
pub(crate) use state::{Unfinished, unfinished};
pub(crate) use stem::stem;
pub(crate) use swap::{Swap, swaps};
pub(crate) use target::{Mistaken, mistaken};
pub(crate) use uncalled::{Uncalled, uncalled};
pub(crate) use unspent::{is_named_after, may_be_unspent};
