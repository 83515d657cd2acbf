//! Places that decide about the agent, or that others run.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mentioned::Named;
use super::pattern::PatternError;
use super::permission::Action;
use super::policy::Globs;

/// What the agent should not change unseen: what decides about it, and what runs by itself later.
const PLACES: [&str; 46] = [
    "**/countersign.toml",
    "~/.config/countersign/**",
    "~/.local/state/countersign/**",
    // Settings, hooks and servers of agents and editors.
    "**/.claude/settings*.json",
    "**/.claude/hooks/**",
    "~/.claude.json",
    "**/.mcp.json",
    "**/.codex/config.toml",
    "**/.codex/hooks.json",
    "**/.codex/rules/**",
    "**/.gemini/settings.json",
    "**/.gemini/hooks/**",
    "**/.cursor/mcp.json",
    "**/.cursor/hooks.json",
    "**/.vscode/tasks.json",
    "**/.vscode/settings.json",
    "**/.vscode/mcp.json",
    "**/.idea/runConfigurations/**",
    "**/.envrc",
    // What git runs.
    "**/.git/hooks",
    "**/.git/hooks/**",
    "**/.git/config",
    "~/.gitconfig",
    "~/.config/git/**",
    // What shells and sessions start with.
    "~/.bashrc",
    "~/.bash_profile",
    "~/.bash_login",
    "~/.bash_logout",
    "~/.bash_aliases",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.zlogin",
    "~/.zlogout",
    "~/.kshrc",
    "~/.inputrc",
    "~/.config/fish/**",
    "~/.config/autostart/**",
    "~/.config/systemd/user/**",
    "~/.pam_environment",
    "~/.ssh/authorized_keys",
    "~/.ssh/config",
    "~/.ssh/rc",
    "/etc/profile.d/**",
    "/etc/cron*/**",
];

/// `[tools.protected]`: places that decide about the agent, or that others run. No project's file
/// says what happens to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProtectedOptions {
    /// What happens to a call that may change one: `allow`, `ask` (the default) or `deny`.
    pub action: Action,
    /// More such places, as globs; `*` stops at `/`, `**` does not. Relative ones are seen from the
    /// project's root.
    pub paths: Vec<String>,
}

impl Default for ProtectedOptions {
    fn default() -> Self {
        Self { action: Action::Ask, paths: Vec::new() }
    }
}

/// A place that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tools.protected.{key}: {error}")]
pub struct ProtectedOptionsError {
    /// The key, with its place in the list.
    pub key: String,
    /// What is wrong with it.
    pub error: PatternError,
}

impl ProtectedOptions {
    /// The checked places.
    ///
    /// # Errors
    /// A pattern that cannot be used.
    pub fn resolve(self) -> Result<ProtectedSettings, ProtectedOptionsError> {
        let own = PLACES.map(str::to_owned).to_vec();
        let wrong = |wrong: super::policy::Wrong| ProtectedOptionsError {
            key: wrong.key,
            error: wrong.error,
        };
        let more = Globs::new(&self.paths).map_err(wrong)?;
        let own = Globs::new(&own).map_err(wrong)?;
        let globs = own.into_iter().chain(more).collect();
        Ok(ProtectedSettings { action: self.action, globs, folders: Vec::new() })
    }
}

/// Checked places.
#[derive(Debug, Clone)]
pub struct ProtectedSettings {
    pub(super) action: Action,
    globs: Vec<Globs>,
    folders: Vec<PathBuf>,
}

impl Default for ProtectedSettings {
    fn default() -> Self {
        let nothing = Self { action: Action::Deny, globs: Vec::new(), folders: Vec::new() };
        ProtectedOptions::default().resolve().unwrap_or(nothing)
    }
}

impl ProtectedSettings {
    /// The same with folders whose names are only known where this runs: the state, wherever it
    /// lies.
    #[must_use]
    pub fn and_folders(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.folders.extend(folders);
        self
    }

    pub(super) fn holds(&self, path: &Named) -> bool {
        self.globs.iter().any(|globs| globs.holds(path))
            || self
                .folders
                .iter()
                .any(|folder| std::path::Path::new(&path.absolute).starts_with(folder))
    }
}
