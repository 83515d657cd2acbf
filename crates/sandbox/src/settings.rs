use std::path::PathBuf;

use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::globs::Globs;
use crate::profile::Profile;

/// `[tools.sandbox]`: how the kernel confines shell commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxOptions {
    /// The sandbox profile: `read-only`, `workspace` (the default), `network` or `off`.
    pub profile: Profile,
    /// Whether a command that the kernel cannot confine is refused. If not, a person is asked for
    /// approval, and the receipt names the gaps.
    pub strict: bool,
    /// Whether the profile may be `off`.
    pub allow_unconfined: bool,
    /// Files and folders that commands may read and execute, in addition to the system, the usual
    /// toolchains and the workspace. `~/` is the home folder.
    pub read_paths: Vec<String>,
    /// Files and folders that commands may change, in addition to the workspace.
    pub write_paths: Vec<String>,
    /// What commands may not read, in addition to the places where secrets are usually kept: files
    /// and folders (`/srv/keys`, `~/keys`), or patterns inside the workspace (`**/.env`), which
    /// only bubblewrap can enforce. Takes precedence over everything that is granted.
    pub deny_read: Vec<String>,
    /// For the profiles without network access: whether commands may connect to other programs on
    /// this machine through Unix sockets. A command that can reach Docker's socket or a session's
    /// D-Bus socket has effectively escaped the sandbox.
    pub unix_sockets: bool,
    /// Whether bubblewrap is used: with `auto` (the default), if it is found and works; with
    /// `never`, not at all; a path names the program to use.
    pub bubblewrap: String,
    /// The user that a command runs as if root starts it. With `owner` (the default), it is the
    /// owner of the workspace, unless that is root. With `never`, the command runs as root. A user
    /// and a group, such as `1000:1000`, are also possible.
    pub run_as: String,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            strict: false,
            allow_unconfined: false,
            read_paths: Vec::new(),
            write_paths: Vec::new(),
            deny_read: ["**/.env", "**/secrets/**"].map(str::to_owned).to_vec(),
            unix_sockets: false,
            bubblewrap: "auto".to_owned(),
            run_as: "owner".to_owned(),
        }
    }
}

/// Why the sandbox options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxOptionsError {
    /// Unconfined commands were not explicitly allowed.
    #[error("profile `off` needs `allow_unconfined = true`")]
    Unconfined,
    /// `strict` and `off` contradict each other.
    #[error("`strict` cannot be combined with the profile `off`, which enforces nothing")]
    StrictOff,
    /// A relative path, which would depend on where the program was started.
    #[error("{key}: `{path}` must be absolute or begin with `~/`")]
    Relative {
        /// The option.
        key: &'static str,
        /// The path.
        path: String,
    },
    /// An invalid pattern.
    #[error("deny_read: `{pattern}` is not a pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Neither a known word nor a path.
    #[error("bubblewrap: `{0}` must be `auto`, `never` or an absolute path")]
    Bubblewrap(String),
    /// Neither a known word nor a user and a group.
    #[error("run_as: `{0}` must be `owner`, `never`, or a user and a group such as `1000:1000`")]
    RunAs(String),
}

/// The user that commands started by root become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunAs {
    /// The owner of the workspace.
    Owner,
    /// Root.
    Never,
    /// A given user and group.
    Id { user: u32, group: u32 },
}

/// Where to find bubblewrap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bubblewrap {
    Auto,
    Never,
    At(PathBuf),
}

/// How the kernel confines shell commands, checked.
#[derive(Debug, Clone)]
pub struct SandboxSettings {
    /// What commands may reach.
    pub(crate) profile: Profile,
    pub(crate) strict: bool,
    pub(crate) read_paths: Vec<String>,
    pub(crate) write_paths: Vec<String>,
    /// Denied paths that are not patterns.
    pub(crate) deny_read: Vec<String>,
    /// Denied patterns, matched inside the workspace, as written.
    pub(crate) patterns: Vec<String>,
    pub(crate) matcher: Globs,
    pub(crate) unix_sockets: bool,
    pub(crate) bubblewrap: Bubblewrap,
    pub(crate) run_as: RunAs,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        let closed = Self {
            profile: Profile::Workspace,
            strict: true,
            read_paths: Vec::new(),
            write_paths: Vec::new(),
            deny_read: Vec::new(),
            patterns: Vec::new(),
            matcher: Globs::default(),
            unix_sockets: false,
            bubblewrap: Bubblewrap::Auto,
            run_as: RunAs::Owner,
        };
        SandboxOptions::default().resolve().unwrap_or(closed)
    }
}

impl SandboxSettings {
    /// What commands may reach.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Whether commands that the kernel cannot confine are refused.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.strict
    }
}

impl SandboxOptions {
    /// The checked settings.
    ///
    /// # Errors
    /// When a path, pattern or word is invalid, or `off` is set without `allow_unconfined`.
    pub fn resolve(self) -> Result<SandboxSettings, SandboxOptionsError> {
        if self.profile == Profile::Off {
            if !self.allow_unconfined {
                return Err(SandboxOptionsError::Unconfined);
            }
            if self.strict {
                return Err(SandboxOptionsError::StrictOff);
            }
        }
        for (key, paths) in [("read_paths", &self.read_paths), ("write_paths", &self.write_paths)] {
            if let Some(path) = paths.iter().find(|path| !is_fixed(path)) {
                return Err(SandboxOptionsError::Relative { key, path: path.clone() });
            }
        }
        let (deny_read, patterns): (Vec<_>, Vec<_>) =
            self.deny_read.into_iter().partition(|path| is_fixed(path));
        let mut globs = Vec::with_capacity(patterns.len());
        let wrong = |pattern: &str, error: &globset::Error| SandboxOptionsError::Pattern {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        };
        for pattern in &patterns {
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            globs.push(glob.map_err(|error| wrong(pattern, &error))?);
        }
        let bubblewrap = match self.bubblewrap.as_str() {
            "auto" => Bubblewrap::Auto,
            "never" => Bubblewrap::Never,
            path if path.starts_with('/') => Bubblewrap::At(PathBuf::from(path)),
            other => return Err(SandboxOptionsError::Bubblewrap(other.to_owned())),
        };
        Ok(SandboxSettings {
            profile: self.profile,
            strict: self.strict,
            read_paths: self.read_paths,
            write_paths: self.write_paths,
            deny_read,
            patterns,
            matcher: Globs::new(globs).map_err(|error| wrong("", &error))?,
            unix_sockets: self.unix_sockets,
            bubblewrap,
            run_as: run_as(&self.run_as)?,
        })
    }
}

fn is_fixed(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("~/")
}

fn run_as(text: &str) -> Result<RunAs, SandboxOptionsError> {
    match text {
        "owner" => Ok(RunAs::Owner),
        "never" => Ok(RunAs::Never),
        ids => ids
            .split_once(':')
            .and_then(|(user, group)| Some((user.parse().ok()?, group.parse().ok()?)))
            // The kernel treats the highest number as "unchanged".
            .filter(|(user, group)| *user != u32::MAX && *group != u32::MAX)
            .map(|(user, group)| RunAs::Id { user, group })
            .ok_or_else(|| SandboxOptionsError::RunAs(ids.to_owned())),
    }
}
