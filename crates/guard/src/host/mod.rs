//! For hosts that execute tools themselves and report each event, possibly from a new process every
//! time, such as a coding agent with hooks. Each step has its own file.

mod after;
mod before;
mod decided;
mod hosted_call;
mod listed;
mod repetition;
mod review;
mod secrets;

pub use after::HostEnded;
pub use before::{Asking, Before};
pub use decided::{PersonsAnswer, Undecided};
pub use hosted_call::HostedCall;
pub use listed::{HostTools, Listed};
pub use review::{Review, reason, remark, review};
