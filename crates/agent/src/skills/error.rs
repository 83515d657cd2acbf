//! Why a skill cannot be used: what is wrong, where, and what to do.

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use counterfoil_report::shorten;
use serde_json::{Value, json};

/// The most characters of a foreign text that a message quotes.
const MOST_QUOTED: usize = 120;

/// A foreign text on one line, without characters that could play tricks on a terminal, and not
/// too long.
pub(super) fn visible(text: &str) -> String {
    shorten(&counterfoil_report::visible(text), MOST_QUOTED).into_owned()
}

/// What is wrong with a skill, without its place, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillProblem {
    what: String,
    suggestion: &'static str,
}

impl SkillProblem {
    pub(super) fn new(what: impl Into<String>, suggestion: &'static str) -> Self {
        Self { what: what.into(), suggestion }
    }

    pub(super) fn link() -> Self {
        Self::new("it is a symbolic link", "copy what it points to into the folder")
    }

    pub(super) fn not_a(what: &str) -> Self {
        Self::new(format!("it is not a {what}"), "move it out of the way")
    }

    pub(super) fn too_large(what: &str, most: &str) -> Self {
        Self::new(format!("{what} larger than {most}"), SPLIT)
    }

    pub(super) fn too_many(what: &str, most: usize) -> Self {
        Self::new(format!("there are more than {most} {what}"), SPLIT)
    }

    /// What to do about it.
    #[must_use]
    pub fn suggestion(&self) -> &str {
        self.suggestion
    }
}

const SPLIT: &str = "remove what the skill does not need, or split it";

impl fmt::Display for SkillProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl From<io::Error> for SkillProblem {
    fn from(error: io::Error) -> Self {
        Self::new(format!("it cannot be read: {error}"), "check that it exists and who may read it")
    }
}

/// Why a skill cannot be used. [`Display`](fmt::Display) is one line, [`report`](Self::report)
/// several. Both are safe to print: foreign texts are shortened, and have no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillError(Box<Parts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    problem: SkillProblem,
    skill: Option<String>,
    file: PathBuf,
    line: Option<usize>,
    context: Vec<(&'static str, String)>,
}

impl SkillError {
    pub(super) fn new(problem: impl Into<SkillProblem>, file: impl Into<PathBuf>) -> Self {
        let (problem, file) = (problem.into(), file.into());
        Self(Box::new(Parts { problem, skill: None, file, line: None, context: Vec::new() }))
    }

    pub(super) fn of_skill(mut self, skill: &str) -> Self {
        self.0.skill = Some(visible(skill));
        self
    }

    pub(super) fn at(mut self, line: Option<usize>) -> Self {
        self.0.line = line;
        self
    }

    pub(super) fn with(mut self, key: &'static str, value: &str) -> Self {
        self.0.context.push((key, visible(value)));
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &SkillProblem {
        &self.0.problem
    }

    /// The file or folder that is wrong.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// The line of the file, from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// The whole in several lines, for people.
    #[must_use]
    pub fn report(&self) -> String {
        let mut report = format!("error: {}", self.0.problem);
        let skill = self.0.skill.iter().map(|skill| ("skill", skill.clone()));
        let lines = skill.chain([("file", self.shown_file())]).chain(self.0.context.clone());
        for (key, value) in lines.chain([("help", self.0.problem.suggestion.to_owned())]) {
            // Writing to a text does not fail.
            let _ = write!(report, "\n  {key}: {value}");
        }
        report
    }

    /// The result of a tool that failed for this reason.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "success": false,
            "error": self.to_string(),
            "skill_name": self.0.skill,
            "file_path": self.shown_file(),
            "suggestion": self.0.problem.suggestion,
        })
    }

    fn shown_file(&self) -> String {
        let file = visible(&self.0.file.to_string_lossy());
        self.0.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { problem, skill, context, .. } = &*self.0;
        write!(f, "{problem}")?;
        if let Some(skill) = skill {
            write!(f, " | Skill: {skill}")?;
        }
        write!(f, " | File: {} | Suggestion: {}", self.shown_file(), problem.suggestion)?;
        context.iter().try_for_each(|(key, value)| write!(f, " | {key}: {value}"))
    }
}

impl std::error::Error for SkillError {}
