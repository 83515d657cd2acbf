//! Shell commands: what may not run, whoever asks, and how the rest runs.

mod asked;
mod background;
mod blocklist;
mod capture;
mod definition;
mod directory;
mod envelope;
mod environment;
mod executor;
#[cfg(target_os = "linux")]
mod group;
mod harmless;
mod options;
mod policy;
mod read_only;
mod receipt;
mod run;
mod sessions;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod told;
mod transaction;
mod written;

pub(crate) use blocklist::NoCommand;
pub use blocklist::{
    Blocklist, BlocklistOptions, BlocklistOptionsError, CommandArgument, Refusal, RefusalKind,
    Substitution, Unread, find_blocked_command, judge_command,
};
pub use envelope::ShellOutputEnvelope;
pub use executor::ShellExecutor;
pub use options::{ShellOptions, ShellOptionsError, ShellSettings};
pub use policy::{ShellPolicy, ShellPolicyHandle};
pub(crate) use read_only::only_reads;
pub use sessions::SessionEnd;
pub use transaction::{SinceChanged, UndoError, has_snapshot, undo_snapshot};
