use std::path::PathBuf;

use counterfoil_sandbox::Globs;
use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{OutOfRange, in_range};

/// `[tools.file]`: which files the file tools may use.
///
/// Patterns match the canonical path, with links resolved: `*` stops at `/`, `**` does not. A
/// pattern that begins with neither `/` nor `**` is relative to the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileOptions {
    /// Patterns for paths that may be neither read nor written. A pattern that matches a folder
    /// covers everything in it. Always takes precedence.
    pub deny_read: Vec<String>,
    /// If not empty, only paths that match these patterns may be read.
    pub allow_read: Vec<String>,
    /// Patterns for paths that may not be written, as in `deny_read`.
    pub deny_write: Vec<String>,
    /// Folders outside the workspace whose files may be used. Writing there needs a person's
    /// approval.
    pub directories: Vec<PathBuf>,
    /// The maximum number of characters that one call shows.
    pub max_output_chars: usize,
}

impl Default for FileOptions {
    fn default() -> Self {
        let owned = |patterns: &[&str]| patterns.iter().map(|text| (*text).to_owned()).collect();
        Self {
            deny_read: owned(&["**/.env", "**/secrets/**", "**/.git/config"]),
            allow_read: Vec::new(),
            deny_write: owned(&["**/.git/**", "**/counterfoil.toml"]),
            directories: Vec::new(),
            max_output_chars: 30_000,
        }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileOptionsError {
    /// An invalid pattern.
    #[error("{key}: `{pattern}` is not a valid pattern: {reason}")]
    Pattern {
        /// The option.
        key: &'static str,
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
    /// A number out of range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

/// Which paths may be used.
#[derive(Debug, Clone)]
pub(crate) struct FilePolicy {
    pub(crate) deny_read: Globs,
    /// `None` allows every path.
    pub(crate) allow_read: Option<Globs>,
    pub(crate) deny_write: Globs,
    /// Folders that no tool may touch, as canonical paths.
    pub(crate) protected: Vec<PathBuf>,
}

/// Which files the file tools may use, checked.
#[derive(Debug, Clone)]
pub struct FileSettings {
    pub(crate) policy: FilePolicy,
    /// Folders allowed in addition to the workspace.
    pub(crate) directories: Vec<PathBuf>,
    /// The maximum number of characters that one call shows.
    pub(crate) max_output: usize,
}

impl FileOptions {
    /// The checked settings.
    ///
    /// # Errors
    /// When a pattern, folder or number is invalid.
    pub fn resolve(self) -> Result<FileSettings, FileOptionsError> {
        in_range("max_output_chars", self.max_output_chars as u64, 500, 10_000_000)?;
        if let Some(path) = self.directories.iter().find(|path| !path.is_absolute()) {
            return Err(FileOptionsError::RelativeDirectory { path: path.display().to_string() });
        }
        let allowed = globs("allow_read", &self.allow_read, Case::Kept)?;
        Ok(FileSettings {
            policy: FilePolicy {
                deny_read: globs("deny_read", &self.deny_read, Case::Ignored)?,
                allow_read: (!self.allow_read.is_empty()).then_some(allowed),
                deny_write: globs("deny_write", &self.deny_write, Case::Ignored)?,
                protected: Vec::new(),
            },
            directories: self.directories,
            max_output: self.max_output_chars,
        })
    }
}

impl Default for FileSettings {
    /// The default options; if those were invalid, nothing could be read.
    fn default() -> Self {
        FileOptions::default().resolve().unwrap_or_else(|_| Self {
            policy: FilePolicy {
                deny_read: Globs::default(),
                allow_read: Some(Globs::default()),
                deny_write: Globs::default(),
                protected: Vec::new(),
            },
            directories: Vec::new(),
            max_output: 30_000,
        })
    }
}

/// Whether case matters. Denials ignore case, because some file systems do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Kept,
    Ignored,
}

fn globs(key: &'static str, patterns: &[String], case: Case) -> Result<Globs, FileOptionsError> {
    let wrong = |pattern: &str, error: &globset::Error| FileOptionsError::Pattern {
        key,
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    };
    let mut globs = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .case_insensitive(case == Case::Ignored)
            .build()
            .map_err(|error| wrong(pattern, &error))?;
        globs.push(glob);
    }
    Globs::new(globs).map_err(|error| wrong("", &error))
}
