use counterfoil_guard::Answer;
use counterfoil_model::{Finding, ToolCall};

use crate::store::CompressionStrategy;

/// Sees what happens in a turn while it happens. What a call does on its way,
/// [`counterfoil_guard::Guard::events`] tells.
pub trait Watch: Send {
    /// Something happened.
    fn on_event(&mut self, what: TurnEvent<'_>);
}

/// Something that happened in a turn. None of it is the answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum TurnEvent<'t> {
    /// The model is asked. Counts the requests of this turn from 1.
    Requested(u32),
    /// It writes. Counts the characters so far; they are not verified yet, and not shown.
    Writing(usize),
    /// It is asked again after some milliseconds, for this reason.
    Again {
        /// Milliseconds.
        after: u64,
        /// Why.
        why: &'t str,
    },
    /// It makes a call, here without its hidden thinking.
    Calling(&'t ToolCall),
    /// The call came to this.
    Answered(&'t ToolCall, &'t Answer),
    /// What it wrote was cut off: it may be no longer.
    Cut,
    /// Its answer is not shown: it goes back to it with this.
    HeldBack(&'t [Finding]),
    /// No judge read its answer, for this reason.
    Unjudged(&'t str),
    /// The conversation was compressed.
    Compressed(CompressionStrategy),
    /// It could not be compressed; nothing is lost.
    NotCompressed(&'t str),
}

/// Looks away.
#[derive(Debug, Clone, Copy)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn on_event(&mut self, _: TurnEvent<'_>) {}
}
