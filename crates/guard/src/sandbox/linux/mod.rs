//! The helper that gives up its rights and becomes the command, and how it is told to.

mod become_command;
mod files;
mod launch;
mod privileges;
mod raw;
mod syscalls;

pub use become_command::run_confined;
pub(super) use launch::attempt;
pub(crate) use launch::{give, launch};
pub use raw::try_user_namespace;
