//! Places that decide about the agent, or that others run.

use std::path::PathBuf;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mentioned::Named;
use super::pattern::PatternError;
use super::permission::Action;
use super::policy::Globs;

/// What the agent should not change unseen: what decides about it, and what runs by itself later.
const PLACES: [&str; 46] = [
    "**/counterfoil.toml",
    "~/.config/counterfoil/**",
    "~/.local/state/counterfoil/**",
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
        let wrong = |wrong: super::policy::Wrong| ProtectedOptionsError {
            key: wrong.key,
            error: wrong.error,
        };
        let globs = Globs::new(&self.paths).map_err(wrong)?;
        Ok(ProtectedSettings { action: self.action, globs, folders: Vec::new() })
    }
}

/// Checked places.
#[derive(Debug, Clone)]
pub struct ProtectedSettings {
    pub(super) action: Action,
    /// Those of the configuration.
    globs: Option<Globs>,
    folders: Vec<PathBuf>,
}

impl Default for ProtectedSettings {
    fn default() -> Self {
        let ProtectedOptions { action, .. } = ProtectedOptions::default();
        Self { action, globs: None, folders: Vec::new() }
    }
}

/// Our own places, compiled when a call first changes something.
fn own() -> Option<&'static Globs> {
    static OWN: LazyLock<Option<Globs>> =
        LazyLock::new(|| Globs::new(&PLACES.map(str::to_owned)).ok().flatten());
    OWN.as_ref()
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
        own().into_iter().chain(&self.globs).any(|globs| globs.holds(path))
            || self
                .folders
                .iter()
                .any(|folder| std::path::Path::new(&path.absolute).starts_with(folder))
    }
}
