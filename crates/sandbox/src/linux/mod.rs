//! Confines a process from its first moment: the restrictions are prepared first, `start.rs` takes
//! the steps between creation and program, and inside bubblewrap a helper takes them.

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
pub use holding::Holding;
pub use kept::Kept;
pub(super) use launch::attempt as attempt_in_bubblewrap;
pub use launch::{give, launch};
pub use marked::{end_all, mark};
pub use raw::try_user_namespace;
pub(super) use start::attempt;
pub use start::{Before, Process, Program, Started, start};
pub use step::Stopped;
