//! What holds a command to its workspace: the kernel, to which a new process gives up its rights
//! before it becomes the command.
//!
//! `executor/settings/sandbox.rs` is what a configuration says, `places.rs` what a command may reach, `plan.rs` all
//! that it is held to, `linux/` the steps of the new process, which behind bubblewrap a helper
//! takes. What cannot be held is a [`Gap`], and stands in the receipt.

mod bubblewrap;
mod confinement;
mod gap;
mod identity;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod linux;
mod places;
mod plan;
mod real_paths;
mod server;

pub use confinement::{Abilities, Sandbox};
pub(crate) use confinement::{Held, Room};
pub use gap::Gap;
#[cfg(target_os = "linux")]
pub(crate) use linux::{
    Before, Holding, Kept, Process, Program, Started, Stopped, end_all, give, launch, mark, start,
};
#[cfg(target_os = "linux")]
pub use linux::{run_confined, try_user_namespace};
pub(crate) use plan::Plan;
#[cfg(target_os = "linux")]
pub(crate) use plan::Reply;
pub use server::{ConfinedServer, HeldServer};

pub(crate) use crate::executor::Limits;
use crate::executor::{Profile, SandboxOptions, SandboxOptionsError, SandboxSettings};
