//! Confines commands to their workspace, through the kernel: a new process gives up its rights
//! before it becomes the command.
//!
//! `settings.rs` has the configuration, `places.rs` what a command may reach, `plan.rs` all its
//! restrictions, and `linux/` the steps of the new process, which a helper takes inside bubblewrap.
//! What cannot be enforced is a [`Gap`], and is recorded in the receipt. Without the feature
//! `kernel` there is only the configuration, which may have every option in any build.
//!
//! Deliberately not here: whether a command may run, its output, its time limit.
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
