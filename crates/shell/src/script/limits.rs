/// The text cannot be analysed. Its effects are unknown, so nothing may be concluded from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnalysable {
    /// It is longer than the limit.
    #[error("the command is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// It is nested more deeply, or has more parts, than the limits allow.
    #[error("the command is nested too deeply")]
    TooDeep,
    /// It is not a valid script.
    #[error("the command is not valid shell syntax: {reason}")]
    Syntax {
        /// The parser's message.
        reason: String,
    },
    /// It may be valid, but cannot be read with certainty.
    #[error("the command contains {what}, which cannot be parsed reliably")]
    Uncertain {
        /// The construct.
        what: &'static str,
    },
}

/// Maximum length of a text in bytes.
const LENGTH: usize = 256 * 1024;
/// Constructs inside one another: groups, expansions and scripts in words.
pub(super) const NESTING: usize = 48;
/// Bytes that may be read in vain, because `((` was not arithmetic after all.
pub(super) const RETRIED: usize = LENGTH;
/// Maximum nesting of scripts run by wrappers.
pub(super) const LEVELS: usize = 16;
/// Maximum number of commands in a script.
pub(super) const COMMANDS: usize = 20_000;

/// What must hold before a text is read.
pub(crate) fn check_text(text: &str) -> Result<(), NotAnalysable> {
    if text.len() > LENGTH {
        return Err(NotAnalysable::TooLong { limit: LENGTH });
    }
    if text.contains('\0') {
        return Err(NotAnalysable::Uncertain { what: "a NUL character" });
    }
    Ok(())
}
