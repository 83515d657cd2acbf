//! The agent, made as the configuration says, and seen while it works.

mod begin;
mod fire;
mod shown;

use std::time::Duration;

pub(crate) use begin::{Begun, Wanted, begin, scheduler};
pub(crate) use fire::{Fired, fire};
pub(crate) use shown::{Shown, answer, behind, told_once};

/// Between two looks at which tasks are due.
pub(crate) const LOOK_AT_TASKS: Duration = Duration::from_secs(1);
