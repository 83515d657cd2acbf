//! Why a skill cannot be used: what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use counterfoil_report::shorten;

/// The most characters of a foreign text that a message quotes.
const MOST_QUOTED: usize = 120;

/// A foreign text on one line, without characters that could play tricks on a terminal, and not
/// too long.
pub(super) fn visible(text: &str) -> String {
    shorten(&counterfoil_report::visible(text), MOST_QUOTED).into_owned()
}

/// Why a skill cannot be used. [`Display`](fmt::Display) is one line that is safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct SkillError {
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub suggestion: &'static str,
    /// The name of the skill, where it is known.
    pub skill: Option<String>,
    /// The file or folder that is wrong.
    pub file: PathBuf,
    /// The line of the file, from 1.
    pub line: Option<usize>,
}

impl SkillError {
    pub(super) fn new(
        file: impl Into<PathBuf>,
        problem: impl Into<String>,
        suggestion: &'static str,
    ) -> Self {
        let (problem, file) = (problem.into(), file.into());
        Self { problem, suggestion, skill: None, file, line: None }
    }

    pub(super) fn link(file: impl Into<PathBuf>) -> Self {
        let help = "replace the link with a copy of its target";
        Self::new(file, "symbolic links are not allowed", help)
    }

    pub(super) fn not_a(what: &str, file: impl Into<PathBuf>) -> Self {
        Self::new(file, format!("this is not a {what}"), "move it elsewhere")
    }

    pub(super) fn too_many(what: &str, most: usize, file: impl Into<PathBuf>) -> Self {
        let problem = format!("the folder has more than {most} {what}");
        Self::new(file, problem, "remove what you do not need, or split the folder")
    }

    pub(super) fn unreadable(file: impl Into<PathBuf>, error: &io::Error) -> Self {
        let help = "check that it exists and that you have permission to read it";
        Self::new(file, format!("cannot read this path: {error}"), help)
    }

    pub(super) fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        if let Some(skill) = &self.skill {
            write!(f, " | Skill: {}", visible(skill))?;
        }
        write!(f, " | File: {}", visible(&self.file.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, " | Suggestion: {}", self.suggestion)
    }
}
