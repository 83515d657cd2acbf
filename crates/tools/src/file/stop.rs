use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use counterfoil_model::ToolErrorCategory;

use crate::ToolError;

/// Whether a call was abandoned, for work on another thread that cannot be stopped from outside.
#[derive(Debug, Default)]
pub(super) struct Stop {
    given_up: AtomicBool,
    /// Held while something takes effect.
    effect: Mutex<()>,
}

impl Stop {
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire)
    }

    /// Returns an error once the call was abandoned.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.is_given_up() { Err(given_up()) } else { Ok(()) }
    }

    /// Runs something with an effect, unless the call was abandoned. Abandoning waits until the
    /// effect is complete, so that nothing happens afterwards.
    pub(super) fn effect<T>(&self, act: impl FnOnce() -> T) -> Result<T, ToolError> {
        let _held = self.effect.lock().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        Ok(act())
    }
}

fn given_up() -> ToolError {
    ToolError::new(ToolErrorCategory::Cancelled, "the call was cancelled")
}

/// Abandons the call when dropped.
pub(super) struct GiveUp(pub(super) Arc<Stop>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        let _held = self.0.effect.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.given_up.store(true, Ordering::Release);
    }
}
