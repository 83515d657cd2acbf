//! What holds a command to its workspace: the kernel, through a helper process that gives up its
//! rights before it becomes the command.
//!
//! `options.rs` is what a configuration says, `places.rs` what a command may reach, `plan.rs` what
//! goes to the helper and back, `linux/` the helper itself. What cannot be held is a [`Gap`], and
//! stands in the receipt.

mod bubblewrap;
mod confinement;
mod gap;
mod identity;
mod limits;
#[cfg(target_os = "linux")]
mod linux;
mod options;
mod places;
mod plan;
mod profile;
mod real_paths;
mod secret_places;

pub use confinement::{Abilities, Sandbox};
pub(crate) use confinement::{Held, Room};
pub use gap::Gap;
pub(crate) use limits::Limits;
#[cfg(target_os = "linux")]
pub(crate) use linux::{give, launch};
#[cfg(target_os = "linux")]
pub use linux::{run_confined, try_user_namespace};
pub use options::{SandboxOptions, SandboxOptionsError, SandboxSettings};
pub(crate) use plan::{Plan, Reply};
pub use profile::Profile;
