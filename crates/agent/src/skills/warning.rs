//! What is odd about a skill that can be read nevertheless.

use std::fmt;
use std::path::PathBuf;

use super::error::visible;

/// What kind of thing is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// A value of the front matter was quoted before it could be read.
    QuotedValue,
    /// Characters that are not seen, or letters that look like others.
    UnseenCharacters,
    /// An HTML comment, or something else that is not displayed, that gives orders.
    HiddenOrders,
    /// It wants other instructions ignored or revealed.
    OrdersIgnored,
    /// It wants something kept from the user.
    HiddenFromUser,
    /// It wants a protection disabled, or a question to the user left out.
    ChecksDisabled,
    /// A long or readable text in Base64.
    EncodedText,
    /// A secret.
    Secret,
    /// A dangerous command.
    DangerousCommand,
    /// A compiled program, which people cannot read.
    Program,
    /// A file changed, or cannot be read any more, since the skill was read.
    NotAsRead,
    /// There are more warnings than are listed.
    More,
}

/// Something odd about a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SkillWarning {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1, where it has one.
    pub line: Option<usize>,
    /// What it is.
    pub what: WarningKind,
    /// Why it is odd: one sentence that quotes the place. Safe to print.
    pub why: String,
}

impl SkillWarning {
    pub(super) fn new(
        file: impl Into<PathBuf>,
        line: Option<usize>,
        what: WarningKind,
        why: impl Into<String>,
    ) -> Self {
        Self { file: file.into(), line, what, why: why.into() }
    }
}

impl fmt::Display for SkillWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.why)
    }
}
