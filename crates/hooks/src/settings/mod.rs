//! Edits the text of agents' settings files. Opening and writing the files is up to the command
//! line.
//!
//! Every edit leaves everything else unchanged, byte by byte. [`uninstall`] removes exactly what
//! [`install`] added, so that the text is the same as before.

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
    /// The whole file; `None` means that the file should not exist.
    pub text: Option<String>,
    /// The changes, in the order of the events or of the file; empty if nothing had to change.
    pub changes: Vec<SettingsChange>,
}

/// A changed entry: a hook for an event, or a server behind the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsChange {
    /// It was added.
    Added {
        /// The event, or the server.
        entry: String,
    },
    /// It existed with another command.
    Updated {
        /// The event, or the server.
        entry: String,
        /// The previous command.
        from: String,
    },
    /// It was removed.
    Removed {
        /// The event, or the server.
        entry: String,
    },
}

/// A hook of ours in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event.
    pub event: String,
    /// The command line that the agent runs.
    pub command: String,
}

/// Why a settings file is not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The file has a syntax error.
    #[error("{what}")]
    Syntax {
        /// The line, 1-based.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// There is something else in the place of the hooks.
    #[error("{at} must be {expected}, got {found}")]
    Shape {
        /// The line, 1-based.
        line: usize,
        /// Its name: `the file`, or the path of keys in back-ticks.
        at: String,
        /// What it is.
        found: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
    /// A key occurs twice, and agents differ in which one counts.
    #[error("duplicate key `{key}`")]
    Twice {
        /// The line, 1-based.
        line: usize,
        /// The key.
        key: String,
    },
}

impl SettingsError {
    /// The 1-based line of the error.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Self::Syntax { line, .. } | Self::Shape { line, .. } | Self::Twice { line, .. } => {
                *line
            }
        }
    }
}

/// Options in addition to the hooks of every installation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// What the agent does with a tool if the hook's program is missing or fails.
    pub when_missing: WhenMissing,
    /// What is added at the start of a session.
    pub session_start: SessionStart,
}

/// What the agent does with a tool if the hook's program is missing or fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenMissing {
    /// The agent's default: it continues.
    #[default]
    GoesOn,
    /// It does not run the tool, if the agent has a setting for that (`onFailure` of Claude Code).
    Blocks,
}

/// What is added at the start of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionStart {
    /// Nothing.
    #[default]
    Silent,
    /// The execution protocol, if the agent has an event for that.
    Protocol,
}

/// Adds a hook of ours for every event that the agent publishes and we answer. `text` is `None` if
/// there is no file. Existing entries keep their matcher and timeout; only a different command of
/// ours is replaced.
///
/// # Errors
/// When the file is broken. It must not be written then.
pub fn install(
    agent: Agent,
    form: SettingsForm,
    text: Option<&str>,
    command: &str,
) -> Result<SettingsEdit, SettingsError> {
    install_with(agent, form, text, command, Extras::default())
}

/// Like [`install`], with extras.
///
/// # Errors
/// As for [`install`].
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

/// Removes every hook of ours, and nothing else.
///
/// # Errors
/// As for [`install`].
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

/// Our hooks in the file, in file order.
///
/// # Errors
/// As for [`install`].
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

/// Whether a Codex `config.toml` has any hooks, ours or others'. If so, ours belong there, because
/// Codex warns about a folder with hooks in two files.
///
/// # Errors
/// When the file is broken.
pub fn config_has_hooks(text: &str) -> Result<bool, SettingsError> {
    toml::has_hooks(text)
}

/// The events that lack an installed hook.
#[must_use]
pub fn missing_events(agent: Agent, installed: &[InstalledHook]) -> Vec<&'static str> {
    entries::for_agent(agent)
        .iter()
        .map(|entry| entry.event)
        .filter(|event| installed.iter().all(|hook| hook.event != *event))
        .collect()
}
