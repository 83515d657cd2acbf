//! How a process is held from its first moment on: what holds it is made ready, `start.rs` takes the
//! steps between its birth and its program, and behind bubblewrap a helper takes them.

mod become_command;
mod birth;
mod files;
mod holding;
mod kept;
mod launch;
mod marked;
mod privileges;
mod raw;
mod start;
mod step;
mod syscalls;

pub use become_command::run_confined;
pub(crate) use holding::Holding;
pub(crate) use kept::Kept;
pub(super) use launch::attempt as attempt_behind;
pub(crate) use launch::{give, launch};
pub(crate) use marked::{end_all, mark};
pub use raw::try_user_namespace;
pub(super) use start::attempt;
pub(crate) use start::{Before, Process, Program, Started, start};
pub(crate) use step::Stopped;
