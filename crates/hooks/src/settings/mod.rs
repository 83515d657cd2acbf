//! Agents' settings files: text in, text out. Opening and writing them is the command line's.
//!
//! Every edit leaves what it does not concern as it is, byte by byte. What [`install`] puts into a
//! text, [`uninstall`] takes out again, so that the text is what it was before.

mod brackets;
mod command;
mod entries;
mod json;
mod servers;
mod switch;
mod toml;

pub use command::{command_line, program_of};
pub use entries::plugin_hooks;
pub use servers::{ListedServer, Reached, guard_servers, listed_servers, release_servers};
pub use switch::{enabled_plugin, switched_off};

use crate::Agent;

/// The syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsForm {
    /// JSON.
    Json,
    /// JSON with comments.
    JsonWithComments,
    /// TOML.
    Toml,
}

/// A settings file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsEdit {
    /// The whole file; `None`: there is to be none.
    pub text: Option<String>,
    /// What changed, in the order of the events or of the file; empty when nothing had to.
    pub changes: Vec<SettingsChange>,
}

/// One entry that changed: a hook for an event, or a server behind the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsChange {
    /// It is new.
    Added {
        /// The event, or the server.
        entry: String,
    },
    /// It was there with another command.
    Updated {
        /// The event, or the server.
        entry: String,
        /// The command that stood there.
        from: String,
    },
    /// It is gone.
    Removed {
        /// The event, or the server.
        entry: String,
    },
}

/// A hook of ours as it stands in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event.
    pub event: String,
    /// The command line that the agent runs.
    pub command: String,
}

/// Why a settings file is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The file is not what its form says.
    #[error("{what}")]
    Syntax {
        /// 1-based.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Something stands where hooks belong.
    #[error("{at} is {found}, not {expected}")]
    Shape {
        /// 1-based.
        line: usize,
        /// What it is called: `the file`, or the keys down to it in back-ticks.
        at: String,
        /// What it is.
        found: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
    /// A key stands there twice, and agents differ in which one counts.
    #[error("the key `{key}` appears here for the second time")]
    Twice {
        /// 1-based.
        line: usize,
        /// The key.
        key: String,
    },
}

impl SettingsError {
    /// Where, 1-based.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Self::Syntax { line, .. } | Self::Shape { line, .. } | Self::Twice { line, .. } => {
                *line
            }
        }
    }
}

/// What a user may want beside the hooks that every installation has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// What the agent does with a tool when the program of its hook is missing, or fails.
    pub when_missing: WhenMissing,
    /// What a session begins with.
    pub session_start: SessionStart,
}

/// What the agent does with a tool when the program of its hook is missing, or fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenMissing {
    /// What it does by itself: it goes on.
    #[default]
    GoesOn,
    /// It does not run the tool, where the agent has a setting for that (`onFailure` of Claude Code).
    Blocks,
}

/// What a session begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionStart {
    /// Nothing of ours.
    #[default]
    Silent,
    /// The execution protocol, where the agent has an event for that.
    Protocol,
}

/// Puts a hook of ours beside what is there, for every event that the agent publishes and we
/// answer. `text` is `None` where there is no file. What is there already stays, with its matcher
/// and time-out; only another command is replaced.
///
/// # Errors
/// When the file is broken; nothing is to be written then.
pub fn install(
    agent: Agent,
    form: SettingsForm,
    text: Option<&str>,
    command: &str,
) -> Result<SettingsEdit, SettingsError> {
    install_with(agent, form, text, command, Extras::default())
}

/// The same with what its user wants beside it.
///
/// # Errors
/// As [`install`].
pub fn install_with(
    agent: Agent,
    form: SettingsForm,
    text: Option<&str>,
    command: &str,
    extras: Extras,
) -> Result<SettingsEdit, SettingsError> {
    let entries = &entries::with(agent, extras);
    let (new, changes) = match form {
        SettingsForm::Json => json::install(text, false, agent, entries, command)?,
        SettingsForm::JsonWithComments => json::install(text, true, agent, entries, command)?,
        SettingsForm::Toml => toml::install(text.unwrap_or_default(), agent, entries, command)?,
    };
    Ok(SettingsEdit { text: Some(new), changes })
}

/// Takes every hook of ours out, and nothing else.
///
/// # Errors
/// As [`install`].
pub fn uninstall(
    agent: Agent,
    form: SettingsForm,
    text: &str,
) -> Result<SettingsEdit, SettingsError> {
    let (text, changes) = match form {
        SettingsForm::Json => json::uninstall(text, false, agent)?,
        SettingsForm::JsonWithComments => json::uninstall(text, true, agent)?,
        SettingsForm::Toml => toml::uninstall(text, agent)?,
    };
    Ok(SettingsEdit { text, changes })
}

/// The hooks of ours that stand in the file, in its order.
///
/// # Errors
/// As [`install`].
pub fn installed(
    agent: Agent,
    form: SettingsForm,
    text: &str,
) -> Result<Vec<InstalledHook>, SettingsError> {
    match form {
        SettingsForm::Json => json::installed(text, false, agent),
        SettingsForm::JsonWithComments => json::installed(text, true, agent),
        SettingsForm::Toml => toml::installed(text, agent),
    }
}

/// Whether hooks, ours or others', stand in a Codex `config.toml`: then ours belong beside them,
/// because Codex warns about a folder with hooks in two files.
///
/// # Errors
/// When the file is broken.
pub fn config_has_hooks(text: &str) -> Result<bool, SettingsError> {
    toml::has_hooks(text)
}

/// The events whose hook is missing from those that are installed.
#[must_use]
pub fn missing_events(agent: Agent, installed: &[InstalledHook]) -> Vec<&'static str> {
    entries::of(agent)
        .iter()
        .map(|entry| entry.event)
        .filter(|event| installed.iter().all(|hook| hook.event != *event))
        .collect()
}
