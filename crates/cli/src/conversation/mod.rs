//! Sets up the agent according to the configuration, and shows its work.

mod begin;
mod fire;
mod front;
mod lines;
mod row;
mod screen;
mod seen;

use std::time::Duration;

pub(crate) use begin::{Begun, Wanted, begin, scheduler};
pub(crate) use fire::{Fired, fire};
pub(crate) use front::{Front, Next};
pub(crate) use lines::Lines;
pub(crate) use row::{Row, Tone, rows};
pub(crate) use screen::{Screen, ScreenPerson, is_for_a_screen};
pub(crate) use seen::{complaint, question_rows, turn_summary, why, wrong};

/// The interval between checks for due tasks.
pub(crate) const LOOK_AT_TASKS: Duration = Duration::from_secs(1);
