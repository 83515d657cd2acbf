use std::borrow::Cow;
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// The longest pattern, in bytes.
const LONGEST: usize = 1024;

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
pub enum Over {
    /// Names and texts: `*` stands for any characters.
    Text,
    /// Paths: `*` stops at `/`, `**` does not.
    Paths,
}

/// A glob that is compiled when something is first held against it.
#[derive(Debug, Clone)]
pub struct Pattern {
    glob: Glob,
    compiled: OnceLock<GlobMatcher>,
}

impl Pattern {
    /// The pattern, compiled when it is first asked.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new(pattern: &str, over: Over) -> Result<Self, PatternError> {
        Ok(Self { glob: glob(pattern, over)?, compiled: OnceLock::new() })
    }

    /// Whether it is this text itself, without anything that stands for others.
    #[must_use]
    pub fn is_exactly(&self, text: &str) -> bool {
        let pattern = self.glob.glob();
        !pattern.contains(['*', '?', '[', '{', '\\']) && pattern == one_form(text)
    }

    /// Whether the whole text fits.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| self.glob.compile_matcher()).is_match(&*one_form(text))
    }
}

/// A text with its accents joined to their letters, as most write it: names are compared in this
/// form, however a rule or a call writes them.
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

/// The glob, for whoever compiles many together.
///
/// # Errors
/// When it cannot be read.
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

/// What holds for every pattern.
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
