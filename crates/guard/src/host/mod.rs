//! For hosts that execute tools themselves and tell of it event by event, each event maybe in a
//! process of its own: a coding agent with hooks. One step a file.

mod after;
mod before;
mod listed;
mod repetition;
mod review;
mod secrets;

pub use after::HostEnded;
pub use before::{Asking, Before, HostedCall};
pub use listed::{HostTools, Listed};
pub use review::{Review, reason, remark, review};
