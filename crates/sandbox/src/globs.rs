//! Glob patterns from a configuration, matched together.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use globset::{Glob, GlobSet};

/// Patterns that are parsed with the configuration, but compiled on first use. Compiling takes far
/// longer than parsing, and a hook starts a process for every event, most of which match no
/// patterns.
#[derive(Clone, Default)]
pub struct Globs(Arc<Lazy>);

#[derive(Default)]
struct Lazy {
    globs: Vec<Glob>,
    compiled: OnceLock<GlobSet>,
}

impl Globs {
    /// The size of expressions in bytes up to which only their syntax can be wrong: compiled, they
    /// stay far below the size limit.
    const SMALL: usize = 16 * 1024;

    /// A set of parsed patterns.
    ///
    /// # Errors
    /// When they are too large together.
    pub fn new(globs: Vec<Glob>) -> Result<Self, globset::Error> {
        let compiled = OnceLock::new();
        if globs.iter().map(|glob| glob.regex().len()).sum::<usize>() > Self::SMALL {
            let _ = compiled.set(GlobSet::new(&globs)?);
        }
        Ok(Self(Arc::new(Lazy { globs, compiled })))
    }

    /// Whether there are no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.globs.is_empty()
    }

    /// Whether any pattern matches.
    #[must_use]
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        !self.is_empty() && self.compiled().is_match(path)
    }

    #[expect(clippy::expect_used, reason = "small patterns that were parsed can be compiled")]
    fn compiled(&self) -> &GlobSet {
        let Lazy { globs, compiled } = &*self.0;
        compiled.get_or_init(|| GlobSet::new(globs).expect("small globs"))
    }
}

impl fmt::Debug for Globs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.globs.iter().map(Glob::glob)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Globs {
        Globs::new(patterns.iter().map(|pattern| Glob::new(pattern).unwrap()).collect()).unwrap()
    }

    #[test]
    fn they_are_compiled_on_first_use() {
        let globs = globs(&["**/.env", "*.key"]);
        let same = globs.clone();
        assert!(globs.0.compiled.get().is_none());
        assert!(globs.is_match("a/.env") && globs.is_match("a.key") && !globs.is_match("a.txt"));
        assert!(same.0.compiled.get().is_some(), "a copy has what was compiled");
    }

    #[test]
    fn nothing_matches_no_pattern() {
        assert!(Globs::default().is_empty() && !Globs::default().is_match("a"));
    }

    #[test]
    fn the_largest_that_are_not_tried_out_compile() {
        for one in ["[!a]?*", "**/a/**", "{a,b*,?}", "\u{2019}?"] {
            let mut globs = Vec::new();
            let glob = Glob::new(&one.repeat(16)).unwrap();
            while globs.len() * glob.regex().len() < Globs::SMALL {
                globs.push(glob.clone());
            }
            globs.pop();
            let globs = Globs::new(globs).unwrap();
            assert!(globs.0.compiled.get().is_none());
            assert!(!globs.is_match(""), "{one}");
        }
    }

    #[test]
    fn many_are_tried_out_at_once() {
        let globs = globs(&["{a,b}*c"; 2000]);
        assert!(globs.0.compiled.get().is_some());
    }
}
