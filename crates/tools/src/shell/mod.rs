//! Runs shell commands that were permitted.

mod arguments;
mod background;
mod capture;
mod definition;
mod directory;
mod envelope;
mod environment;
mod foreground;
#[cfg(target_os = "linux")]
mod group;
mod harmless;
#[cfg(target_os = "linux")]
mod line_sender;
mod receipt;
mod run;
mod sessions;
#[cfg(target_os = "linux")]
mod supervisor;
mod tools;
mod transaction;
mod written;

pub use tools::ShellTools;
pub use transaction::{
    NoSnapshot, SinceChanged, UndoError, has_snapshot, snapshot_after, snapshot_before,
    undo_snapshot,
};
