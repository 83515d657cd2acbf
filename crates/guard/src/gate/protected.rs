//! Places that control the agent or that other programs run.

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

/// Places that the agent should not change unnoticed: what controls it, and what runs on its own
/// later.
const PLACES: [&str; 51] = [
    "**/counterfoil.toml",
    "~/.config/counterfoil/**",
    "~/.local/state/counterfoil/**",
    // Our own binary.
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
    // Agents' session logs: claims are checked against them.
    "~/.claude/projects/**/*.jsonl",
    "~/.codex/sessions/**",
    "~/.gemini/tmp/**/chats/**",
    // What git runs.
    "**/.git/hooks",
    "**/.git/hooks/**",
    "**/.git/config",
    "~/.gitconfig",
    "~/.config/git/**",
    // Files that shells and login sessions run at startup.
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

/// `[tools.protected]`: places that control the agent or that other programs run. A project's file
/// can only make this section stricter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProtectedOptions {
    /// What happens to a call that may change a protected file or folder: `allow`, `ask` (the
    /// default) or `deny`.
    pub action: Action,
    /// Additional protected files and folders, as globs; `*` stops at `/`, `**` does not. A
    /// relative glob starts at the root of the project.
    pub paths: Vec<String>,
}

impl Default for ProtectedOptions {
    fn default() -> Self {
        Self { action: Action::Ask, paths: Vec::new() }
    }
}

/// A glob is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tools.protected.{key}: {error}")]
pub struct ProtectedOptionsError {
    /// The key, with its index in the list.
    pub key: String,
    /// What is wrong with it.
    pub error: PatternError,
}

impl ProtectedOptions {
    /// Validates the places.
    ///
    /// # Errors
    /// When a pattern is invalid.
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

/// Validated protected places.
#[derive(Debug, Clone)]
pub struct ProtectedSettings {
    pub(super) action: Action,
    /// The globs of the configuration.
    globs: Option<Globs>,
    /// The folders that contain the configured places.
    more: Vec<Holder>,
    /// Places that are known only at run time, with everything in them.
    folders: Vec<(PathBuf, Holder)>,
}

impl Default for ProtectedSettings {
    fn default() -> Self {
        let ProtectedOptions { action, .. } = ProtectedOptions::default();
        Self { action, globs: None, more: Vec::new(), folders: Vec::new() }
    }
}

/// The maximum length of a path. No system opens a longer one.
const LONGEST: usize = 8192;

/// Whether a path is a startup file of a shell. Lines that only set variables there run no code.
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

/// Our built-in places, compiled when a call first changes something.
fn own() -> Option<&'static Globs> {
    static OWN: LazyLock<Option<Globs>> =
        LazyLock::new(|| Globs::new(&PLACES.map(str::to_owned)).ok().flatten());
    OWN.as_ref()
}

/// The folders that contain our built-in places.
fn own_holders() -> &'static [Holder] {
    static OWN: LazyLock<Vec<Holder>> =
        LazyLock::new(|| PLACES.iter().map(|place| Holder::of_pattern(place)).collect());
    &OWN
}

impl ProtectedSettings {
    /// Adds files and folders whose names are known only at run time: the state, the configuration
    /// and agents' settings, wherever they are.
    #[must_use]
    pub fn and_folders(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        for folder in folders {
            let holder = Holder::of_folder(&folder);
            self.folders.push((folder, holder));
        }
        self
    }

    /// Whether a call's change to a path affects a protected place.
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

    /// Whether a path is a protected place itself, or lies in one.
    pub(super) fn holds(&self, path: &Named) -> bool {
        let within = |folder: &Path| Path::new(&path.absolute).starts_with(folder);
        own().into_iter().chain(&self.globs).any(|globs| globs.holds(path))
            || self.folders.iter().any(|(folder, _)| within(folder))
    }
}
