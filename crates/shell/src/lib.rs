//! Analyses what a shell command line does: command positions at any depth, redirect targets,
//! substitutions, wrappers, known runners and the meaning of their output.
//!
//! Pure. Deliberately not here: I/O, execution, policy. Start with [`Script::parse`] for the
//! command line, [`activities`] for the runners in it, and [`summary`] for the output of a runner.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod activity;
mod output;
mod powershell;
mod script;

pub use activity::{Activity, ActivityKind, Git, Scope, activities};
pub use output::{
    OutputVerdict, RunSummary, commit_of, exit_code_in_text, shows_run, stopped_elsewhere,
    strip_ansi, summary,
};
pub use powershell::{powershell_as_shell, takes_powershell};
pub use script::{
    Assignment, Command, Destination, Direction, Doubt, Effect, Function, Masking, NotAnalysable,
    Position, Redirect, Script, Status, Stream, Target, Word, WordKind, Write,
};
