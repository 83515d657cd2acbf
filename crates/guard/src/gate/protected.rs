//! Places that decide about the agent, or that others run.

mod holders;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use counterfoil_tools::PatternError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mentioned::{Ground, Named};
use super::permission::Action;
use super::policy::Globs;
use super::targets::Change;
use holders::Holder;

/// What the agent should not change unseen: what decides about it, and what runs by itself later.
const PLACES: [&str; 51] = [
    "**/counterfoil.toml",
    "~/.config/counterfoil/**",
    "~/.local/state/counterfoil/**",
    // The program that judges.
    "**/bin/counterfoil",
    "**/bin/counterfoil.exe",
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
    // What agents record of their sessions: a false claim is held against it.
    "~/.claude/projects/**/*.jsonl",
    "~/.codex/sessions/**",
    "~/.gemini/tmp/**/chats/**",
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
    "**/.ssh/authorized_keys",
    "**/.ssh/config",
    "**/.ssh/rc",
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
        let more = self.paths.iter().map(|path| Holder::of_pattern(path)).collect();
        Ok(ProtectedSettings { action: self.action, globs, more, folders: Vec::new() })
    }
}

/// Checked places.
#[derive(Debug, Clone)]
pub struct ProtectedSettings {
    pub(super) action: Action,
    /// Those of the configuration.
    globs: Option<Globs>,
    /// The folders that hold those.
    more: Vec<Holder>,
    /// Places that are only known where this runs, with all that lies in them.
    folders: Vec<(PathBuf, Holder)>,
}

impl Default for ProtectedSettings {
    fn default() -> Self {
        let ProtectedOptions { action, .. } = ProtectedOptions::default();
        Self { action, globs: None, more: Vec::new(), folders: Vec::new() }
    }
}

/// No system opens a longer path.
const LONGEST: usize = 8192;

/// Whether a path is a file that shells start with. What only sets variables there is nobody's code.
fn is_start_file(names: &[&str]) -> bool {
    const START_FILES: [&str; 8] = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".envrc",
    ];
    names.last().is_some_and(|name| START_FILES.contains(name))
}

/// Our own places, compiled when a call first changes something.
fn own() -> Option<&'static Globs> {
    static OWN: LazyLock<Option<Globs>> =
        LazyLock::new(|| Globs::new(&PLACES.map(str::to_owned)).ok().flatten());
    OWN.as_ref()
}

/// The folders that hold our own places.
fn own_holders() -> &'static [Holder] {
    static OWN: LazyLock<Vec<Holder>> =
        LazyLock::new(|| PLACES.iter().map(|place| Holder::of_pattern(place)).collect());
    &OWN
}

impl ProtectedSettings {
    /// The same with files and folders whose names are only known where this runs: the state, the
    /// configuration and the settings of agents, wherever they lie.
    #[must_use]
    pub fn and_folders(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        for folder in folders {
            let holder = Holder::of_folder(&folder);
            self.folders.push((folder, holder));
        }
        self
    }

    /// Whether what a call does to a path changes a protected place.
    pub(super) fn touched(&self, path: &Named, ground: &Ground<'_>) -> bool {
        let Some(change) = &path.change else { return false };
        if path.any {
            return true;
        }
        if path.absolute.len() > LONGEST {
            return false;
        }
        let above: Vec<&str> = holders::parts(&path.absolute).collect();
        let of_folders = || self.folders.iter().map(|(_, holder)| holder);
        let mut holders = own_holders().iter().chain(&self.more).chain(of_folders());
        match change {
            Change::Sets if is_start_file(&above) => false,
            Change::Sets | Change::Writes => self.holds(path),
            Change::Replaces | Change::Fills => {
                self.holds(path) || holders.any(|holder| holder.lies_in(&above, ground))
            }
            Change::Within(name) => {
                self.holds(path) || holders.any(|holder| holder.has_in(&above, name, ground))
            }
        }
    }

    fn holds(&self, path: &Named) -> bool {
        let within = |folder: &Path| Path::new(&path.absolute).starts_with(folder);
        own().into_iter().chain(&self.globs).any(|globs| globs.holds(path))
            || self.folders.iter().any(|(folder, _)| within(folder))
    }
}
