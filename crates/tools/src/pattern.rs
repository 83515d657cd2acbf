use std::borrow::Cow;
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// The maximum length of a pattern in bytes.
const LONGEST: usize = 1024;

/// Why a pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is too long.
    #[error("the pattern is {length} bytes long; the limit is {LONGEST}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// It is empty, so nothing would match.
    #[error("the pattern is empty")]
    Empty,
    /// Its syntax is wrong.
    #[error("`{pattern}` is not a valid pattern: {reason}")]
    Syntax {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Names and texts: `*` matches any characters.
    Text,
    /// Paths: `*` stops at `/`, `**` does not.
    Paths,
}

/// A glob that is compiled when it is first used.
#[derive(Debug, Clone)]
pub struct Pattern {
    glob: Glob,
    compiled: OnceLock<GlobMatcher>,
}

impl Pattern {
    /// Creates a pattern.
    ///
    /// # Errors
    /// When it is empty, too long or has a syntax error.
    pub fn new(pattern: &str, over: Over) -> Result<Self, PatternError> {
        Ok(Self { glob: glob(pattern, over)?, compiled: OnceLock::new() })
    }

    /// The pattern as it is written, in Unicode normal form C.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.glob.glob()
    }

    /// Whether the pattern has no wildcards and equals this text.
    #[must_use]
    pub fn is_exactly(&self, text: &str) -> bool {
        let pattern = self.glob.glob();
        !pattern.contains(['*', '?', '[', '{', '\\']) && pattern == one_form(text)
    }

    /// Whether the whole text matches.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| self.glob.compile_matcher()).is_match(&*one_form(text))
    }
}

/// The text in Unicode normal form C, in which names are compared, however a rule or a call writes
/// them.
#[must_use]
pub fn one_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    }
}

/// The glob, for callers that compile many together.
///
/// # Errors
/// When it is empty, too long or has a syntax error.
pub fn glob(pattern: &str, over: Over) -> Result<Glob, PatternError> {
    check_pattern(pattern)?;
    let built = GlobBuilder::new(&one_form(pattern))
        .literal_separator(over == Over::Paths)
        .backslash_escape(true)
        .build();
    built.map_err(|error| PatternError::Syntax {
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    })
}

/// Checks what every pattern must satisfy.
///
/// # Errors
/// When it is empty or too long.
pub fn check_pattern(pattern: &str) -> Result<(), PatternError> {
    match pattern.len() {
        0 => Err(PatternError::Empty),
        length if length > LONGEST => Err(PatternError::TooLong { length }),
        _ => Ok(()),
    }
}
