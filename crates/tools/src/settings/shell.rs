use std::path::PathBuf;
use std::time::Duration;

use counterfoil_sandbox::Limits;
use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{OutOfRange, in_range};

/// `[tools.shell]`: how shell commands run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShellOptions {
    /// The default timeout of a command, in seconds.
    pub timeout_secs: u64,
    /// The maximum timeout that a command may request, in seconds.
    pub max_timeout_secs: u64,
    /// The timeout of a command in the background, in seconds.
    pub background_secs: u64,
    /// The maximum processor time of each process, in seconds; 0 is unlimited.
    pub cpu_secs: u64,
    /// The maximum memory of each process, in megabytes; 0 is unlimited.
    pub memory_mb: u64,
    /// The maximum number of processes of the user in total; 0 is unlimited. Does not apply to
    /// root.
    pub max_processes: u64,
    /// The maximum size of a file that a command writes, in megabytes; 0 is unlimited.
    pub file_mb: u64,
    /// The maximum number of characters of output shown. Longer output is shown in part: a third of
    /// this number from its beginning, a third from its end, and lines between them that report
    /// problems.
    pub max_output_chars: usize,
    /// For output longer than `max_output_chars`: the maximum number of its characters that are
    /// recorded, so that they can be read later.
    pub max_recorded_chars: usize,
    /// Whether files that a command seems to write to are copied first, so that they can be
    /// restored.
    pub transactional: bool,
    /// Patterns of the paths to copy, relative to the workspace.
    pub transaction_scope: Vec<String>,
    /// Whether changes are rolled back when a command ends with one of `auto_rollback_exit_codes`.
    pub auto_rollback: bool,
    /// The exit codes that trigger `auto_rollback`.
    pub auto_rollback_exit_codes: Vec<i32>,
    /// Whether a command is refused if no snapshot can be taken.
    pub snapshot_required: bool,
    /// The maximum size of one snapshot in bytes; 0 is unlimited.
    pub max_snapshot_bytes: u64,
    /// The number of snapshots kept for `counterfoil undo`.
    pub keep_snapshots: usize,
    /// Environment variables passed to commands in addition to the usual ones, as patterns
    /// (`CARGO_*`). Variables whose names suggest secrets are never passed.
    pub pass_env: Vec<String>,
    /// Folders outside the workspace in which a command may start, and which it may read.
    pub directories: Vec<PathBuf>,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            timeout_secs: 30,
            max_timeout_secs: 600,
            background_secs: 3_600,
            cpu_secs: 600,
            memory_mb: 4_096,
            max_processes: 4_096,
            file_mb: 1_024,
            max_output_chars: 30_000,
            max_recorded_chars: 1_000_000,
            transactional: false,
            transaction_scope: vec!["**".to_owned()],
            auto_rollback: false,
            auto_rollback_exit_codes: vec![1, 2],
            snapshot_required: false,
            max_snapshot_bytes: 0,
            keep_snapshots: 0,
            pass_env: Vec::new(),
            directories: Vec::new(),
        }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShellOptionsError {
    /// A number out of range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// An invalid pattern in `pass_env`.
    #[error("pass_env: `{pattern}` is not a valid pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An invalid pattern in `transaction_scope`.
    #[error("transaction_scope: `{pattern}` is not a valid pattern: {reason}")]
    Scope {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A relative folder, which would depend on where the program was started.
    #[error("directories: `{path}` is not an absolute path")]
    RelativeDirectory {
        /// The folder.
        path: String,
    },
}

const MB: u64 = 1024 * 1024;
const DAY_SECS: u64 = 24 * 60 * 60;

impl ShellOptions {
    /// The checked settings.
    ///
    /// # Errors
    /// When a number, pattern or folder is invalid.
    pub fn resolve(self) -> Result<ShellSettings, ShellOptionsError> {
        let most = self.max_timeout_secs;
        in_range("max_timeout_secs", most, 1, DAY_SECS)?;
        in_range("timeout_secs", self.timeout_secs, 1, most)?;
        in_range("background_secs", self.background_secs, 1, DAY_SECS)?;
        in_range("max_output_chars", self.max_output_chars as u64, 500, 10_000_000)?;
        let shown = self.max_output_chars as u64;
        in_range("max_recorded_chars", self.max_recorded_chars as u64, shown, 10_000_000)?;
        in_range("memory_mb", self.memory_mb, 0, u64::MAX / MB)?;
        in_range("file_mb", self.file_mb, 0, u64::MAX / MB)?;
        let mut passed = GlobSetBuilder::new();
        let wrong = |pattern: &str, error: &globset::Error| ShellOptionsError::Pattern {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        };
        for pattern in &self.pass_env {
            passed.add(Glob::new(pattern).map_err(|error| wrong(pattern, &error))?);
        }
        if let Some(path) = self.directories.iter().find(|path| !path.is_absolute()) {
            return Err(ShellOptionsError::RelativeDirectory { path: path.display().to_string() });
        }
        let mut scope = GlobSetBuilder::new();
        let off = |pattern: &str, error: &globset::Error| ShellOptionsError::Scope {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        };
        for pattern in &self.transaction_scope {
            scope.add(Glob::new(pattern).map_err(|error| off(pattern, &error))?);
        }
        let transaction = TransactionSettings {
            enabled: self.transactional,
            scope: scope.build().map_err(|error| off("", &error))?,
            auto_rollback: self.auto_rollback,
            exit_codes: self.auto_rollback_exit_codes,
            required: self.snapshot_required,
            max_bytes: (self.max_snapshot_bytes > 0).then_some(self.max_snapshot_bytes),
            keep: self.keep_snapshots,
        };
        let limit = |value: u64, unit: u64| (value > 0).then_some(value.saturating_mul(unit));
        Ok(ShellSettings {
            timeout: Duration::from_secs(self.timeout_secs),
            max_timeout: Duration::from_secs(self.max_timeout_secs),
            background: Duration::from_secs(self.background_secs),
            limits: Limits {
                mark: None,
                cpu_secs: limit(self.cpu_secs, 1),
                memory: limit(self.memory_mb, MB),
                processes: limit(self.max_processes, 1),
                file: limit(self.file_mb, MB),
            },
            max_output: self.max_output_chars,
            max_recorded: self.max_recorded_chars,
            transaction,
            passed: passed.build().map_err(|error| wrong("", &error))?,
            directories: self.directories,
        })
    }
}

/// When commands are rolled back, checked.
#[derive(Debug, Clone)]
pub(crate) struct TransactionSettings {
    pub(crate) enabled: bool,
    pub(crate) scope: GlobSet,
    pub(crate) auto_rollback: bool,
    pub(crate) exit_codes: Vec<i32>,
    pub(crate) required: bool,
    /// `None` means unlimited.
    pub(crate) max_bytes: Option<u64>,
    pub(crate) keep: usize,
}

impl Default for TransactionSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            scope: GlobSet::empty(),
            auto_rollback: false,
            exit_codes: vec![1, 2],
            required: false,
            max_bytes: None,
            keep: 0,
        }
    }
}

/// How shell commands run, checked.
#[derive(Debug, Clone)]
pub struct ShellSettings {
    /// The default timeout of a command.
    pub(crate) timeout: Duration,
    /// The maximum timeout that a command may request.
    pub(crate) max_timeout: Duration,
    /// The timeout of a command in the background.
    pub(crate) background: Duration,
    pub(crate) limits: Limits,
    /// The maximum number of characters of output shown.
    pub(crate) max_output: usize,
    /// The maximum number of characters of longer output recorded.
    pub(crate) max_recorded: usize,
    /// When commands are rolled back.
    pub(crate) transaction: TransactionSettings,
    /// Variables passed on in addition to the usual ones.
    pub(crate) passed: GlobSet,
    /// Folders other than the workspace in which a command may start.
    pub(crate) directories: Vec<PathBuf>,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_timeout: Duration::from_secs(600),
            background: Duration::from_secs(3_600),
            limits: Limits {
                mark: None,
                cpu_secs: Some(600),
                memory: Some(4_096 * MB),
                processes: Some(4_096),
                file: Some(1_024 * MB),
            },
            max_output: 30_000,
            max_recorded: 1_000_000,
            transaction: TransactionSettings::default(),
            passed: GlobSet::empty(),
            directories: Vec::new(),
        }
    }
}
