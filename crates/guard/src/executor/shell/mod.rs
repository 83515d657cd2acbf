//! Shell commands: what may not run, whoever asks, and how the rest runs.

mod blocklist;
mod capture;
mod directory;
mod envelope;
mod environment;
mod executor;
#[cfg(target_os = "linux")]
mod group;
mod harmless;
mod limits;
mod options;
mod policy;
mod read_only;
mod run;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod supervisor;
mod written;

pub(crate) use blocklist::NoCommand;
pub use blocklist::{
    Blocklist, BlocklistOptions, BlocklistOptionsError, CommandArgument, Substitution,
    find_blocked_command,
};
pub use envelope::ShellOutputEnvelope;
pub use executor::ShellExecutor;
pub use options::{ShellOptions, ShellOptionsError, ShellSettings};
pub use policy::{ShellPolicy, ShellPolicyHandle};
pub(crate) use read_only::only_reads;
