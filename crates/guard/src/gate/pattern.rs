use globset::{GlobBuilder, GlobMatcher};

/// The longest pattern, in bytes.
pub(super) const LONGEST: usize = 1024;

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Longer than what is read.
    #[error("the pattern has {length} bytes; the limit is {LONGEST}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// Nothing matches it.
    #[error("the pattern is empty")]
    Empty,
    /// Not a pattern.
    #[error("`{pattern}` is not a pattern: {reason}")]
    Syntax {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a pattern is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// Names and texts: `*` stands for any characters.
    Text,
    /// Paths: `*` stops at `/`, `**` does not.
    Paths,
}

/// A compiled glob.
pub(super) fn glob(pattern: &str, over: Over) -> Result<GlobMatcher, PatternError> {
    check(pattern)?;
    let built = GlobBuilder::new(pattern)
        .literal_separator(over == Over::Paths)
        .backslash_escape(true)
        .build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| PatternError::Syntax {
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    })
}

/// What holds for every pattern.
pub(super) fn check(pattern: &str) -> Result<(), PatternError> {
    match pattern.len() {
        0 => Err(PatternError::Empty),
        length if length > LONGEST => Err(PatternError::TooLong { length }),
        _ => Ok(()),
    }
}
