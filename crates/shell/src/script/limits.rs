/// A text that cannot be analysed. What it does is unknown, so nothing may be concluded from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnalysable {
    /// Longer than what is read.
    #[error("the command is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// Nested deeper, or with more parts, than what is read.
    #[error("the command is nested too deeply")]
    TooDeep,
    /// Not a valid script.
    #[error("the command is not valid shell syntax: {reason}")]
    Syntax {
        /// What the grammar says.
        reason: String,
    },
    /// Valid, perhaps, but not something that can be read with certainty.
    #[error("the command holds {what}, which cannot be read with certainty")]
    Uncertain {
        /// The construct.
        what: &'static str,
    },
}

/// The longest text that is read, in bytes.
const LENGTH: usize = 256 * 1024;
/// Constructs inside one another: groups, expansions and scripts in words.
pub(super) const NESTING: usize = 48;
/// Bytes that may be read in vain, because `((` was not arithmetic after all.
pub(super) const RETRIED: usize = LENGTH;
/// Scripts that wrappers run, inside one another.
pub(super) const LEVELS: usize = 16;
/// Commands of one script.
pub(super) const COMMANDS: usize = 20_000;

/// What must hold before a text is read.
pub(super) fn check_text(text: &str) -> Result<(), NotAnalysable> {
    if text.len() > LENGTH {
        return Err(NotAnalysable::TooLong { limit: LENGTH });
    }
    if text.contains('\0') {
        return Err(NotAnalysable::Uncertain { what: "a NUL character" });
    }
    Ok(())
}
