//! What holds a command to its workspace: the kernel, to which a new process gives up its rights
//! before it becomes the command.
//!
//! `settings.rs` is what a configuration says, `places.rs` what a command may reach, `plan.rs` all
//! that it is held to, `linux/` the steps of the new process, which behind bubblewrap a helper
//! takes. What cannot be held is a [`Gap`], and stands in the receipt. Without the feature `kernel`
//! only what a configuration says is here: it may speak of all of it, whatever is built in.
//!
//! Deliberately not here: whether a command may run, what it prints, when it has taken too long.
//!
#![cfg_attr(feature = "kernel", doc = "Start with [`Sandbox`], then `linux/start.rs`.")]
#![cfg_attr(not(feature = "kernel"), doc = "Start with [`SandboxOptions`].")]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

#[cfg(feature = "kernel")]
mod bubblewrap;
#[cfg(feature = "kernel")]
mod confinement;
#[cfg(feature = "kernel")]
mod gap;
mod globs;
#[cfg(feature = "kernel")]
mod identity;
mod limits;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod linux;
#[cfg(feature = "kernel")]
mod places;
#[cfg(feature = "kernel")]
mod plan;
mod profile;
#[cfg(feature = "kernel")]
mod real_paths;
mod secret_places;
#[cfg(feature = "kernel")]
mod server;
#[cfg_attr(not(feature = "kernel"), expect(dead_code, reason = "what holds commands reads it"))]
mod settings;

#[cfg(feature = "kernel")]
pub use confinement::{Abilities, Held, Room, Sandbox};
#[cfg(feature = "kernel")]
pub use gap::Gap;
pub use globs::Globs;
pub use limits::Limits;
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub use linux::{
    Before, Holding, Kept, Process, Program, Started, Stopped, end_all, give, launch, mark,
    run_confined, start, try_user_namespace,
};
#[cfg(feature = "kernel")]
pub use plan::{Plan, Reply};
pub use profile::Profile;
pub use secret_places::{AT_HOME, OF_THE_SYSTEM};
#[cfg(feature = "kernel")]
pub use server::{ConfinedServer, HeldServer};
pub use settings::{SandboxOptions, SandboxOptionsError, SandboxSettings};
