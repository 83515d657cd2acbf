//! What the session was before a message, as far as clauses have asked.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::absence::Held;
use super::count::Counts;
use super::known::Numbers;
use super::order::Step;
use super::rest::{Begun, Used};
use super::unspent::Purpose;

/// What is worked out of the calls, results and texts before a message: each when the first clause
/// asks for it, and for all clauses of that message. It is kept for the message that was asked about
/// last.
#[derive(Debug, Default)]
pub(crate) struct Before<'t> {
    pub(super) numbers: OnceCell<Numbers>,
    pub(super) counts: OnceCell<Counts>,
    pub(super) steps: OnceCell<Vec<Step>>,
    pub(super) used: OnceCell<Vec<Used>>,
    pub(super) begun: OnceCell<Vec<Begun>>,
    pub(super) spent: OnceCell<BTreeSet<usize>>,
    pub(super) purposes: OnceCell<Vec<Purpose>>,
    pub(super) held: OnceCell<Vec<Held<'t>>>,
}
