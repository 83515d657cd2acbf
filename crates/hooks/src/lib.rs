//! Implements coding agents' hook contracts: events in, answers out.
//!
//! A coding agent starts a process for each event of a session: before a tool call, after it, and
//! when it is about to stop. [`read_event`] parses the event, [`respond`] has it judged, and
//! [`write_answer`] writes the result in the agent's format. Processes share state through the
//! ledger and through a [`Memory`] of what was read of the transcript.
//!
//! Deliberately not here: what is right or wrong, and what may run. `counterfoil-rules` and
//! `counterfoil-guard` decide that.
//!
//! Start with [`respond`]. The table of contracts is in `contract/mod.rs`.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod answer;
mod canary;
mod contract;
mod coverage;
mod event;

mod late;
mod memory;
mod options;
mod respond;
mod sent;
mod settings;
mod stop;
mod sub_agent;
mod toolbox;
mod twice;

pub use counterfoil_model::Agent;

pub use answer::{Answer, Decision};
pub use canary::{Answered, Expected, Probe, answered, canary_log, probes};
pub use contract::{ReadEventError, read_event, write_answer};
pub use coverage::{Coverage, Receipted, Uncovered, coverage};
pub use event::{Event, Happening, Questions};
pub use memory::{Memory, MemoryError, Turn};
pub use options::{
    HooksOptions, HooksOptionsError, HooksSettings, OnFault, StopMode, WithoutQuestions,
};
pub use respond::{RespondError, Snapshots, Surrounding, asking, respond};
pub use settings::{
    Extras, InstalledHook, ListedServer, Reached, SessionStart, SettingsChange, SettingsEdit,
    SettingsError, SettingsForm, WhenMissing, command_line, config_has_hooks, enabled_plugin,
    guard_servers, install, install_with, installed, listed_servers, missing_events, plugin_hooks,
    program_of, release_servers, switched_off, uninstall,
};
pub use toolbox::tool;
