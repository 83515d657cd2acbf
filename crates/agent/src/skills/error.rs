//! Why a skill cannot be used: what is wrong, where, and what to do.

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::inline_tool::InlineToolProblem;
use super::visible::visible;

/// What is wrong with a skill, without its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillProblem {
    /// A folder has no `SKILL.md`.
    #[error("the folder has no file `SKILL.md`")]
    NoSkillFile,
    /// The file has another name.
    #[error("the file is called `{0}`, not `SKILL.md`")]
    OtherCase(String),
    /// The operating system says no.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// A symbolic link, which is never followed.
    #[error("it is a symbolic link")]
    SymbolicLink,
    /// Neither a file nor a folder, or not the one of the two that is needed.
    #[error("it is not a {0}")]
    NotA(&'static str),
    /// The file was replaced while it was opened.
    #[error("the file was replaced while it was read")]
    Replaced,
    /// Something is larger than it may be.
    #[error("{what} larger than {most}")]
    TooLarge {
        /// What is, with its verb.
        what: &'static str,
        /// The limit, with its unit.
        most: &'static str,
    },
    /// There are more than there may be.
    #[error("there are more than {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// The file is not UTF-8.
    #[error("the file is not UTF-8 text")]
    NotUtf8,
    /// The file does not begin with `---`.
    #[error("the file does not begin with a line `---`")]
    NoFrontMatter,
    /// The front matter has no end.
    #[error("the front matter is not closed by a line `---`")]
    FrontMatterNotClosed,
    /// The front matter is not YAML, or YAML that is refused.
    #[error("the front matter cannot be read: {0}")]
    InvalidYaml(String),
    /// The front matter has no fields.
    #[error("the front matter has no fields")]
    NotAMapping,
    /// A required field is missing.
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    /// A required field says nothing.
    #[error("the field `{0}` is blank")]
    Blank(&'static str),
    /// A field has another kind of value than it should.
    #[error("the field `{field}` is not {expected}")]
    WrongKind {
        /// The field.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A field is too long.
    #[error("the field `{field}` has {length} characters, {most} are the most")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Its length in characters.
        length: usize,
        /// The most characters that it may have.
        most: usize,
    },
    /// A name with other characters than it may have.
    #[error("the name has characters other than `a` to `z`, `0` to `9` and `-`")]
    NameCharacters,
    /// A name with hyphens where they may not be.
    #[error("the name begins or ends with a hyphen, or has two in a row")]
    NameHyphens,
    /// The folder is called otherwise.
    #[error("the name is not that of the folder, `{}`", visible(.0))]
    NameNotFolder(String),
    /// An inline tool is wrong.
    #[error(transparent)]
    Tool(#[from] InlineToolProblem),
    /// An earlier skill has the name.
    #[error("an earlier skill has the same name, so this one is not used")]
    Shadowed,
}

impl SkillProblem {
    /// What to do about it.
    #[must_use]
    pub fn suggestion(&self) -> &str {
        match self {
            Self::NoSkillFile => "add a `SKILL.md` with `name` and `description`",
            Self::OtherCase(_) => "rename the file to `SKILL.md`",
            Self::Unreadable(_) => "check that it exists and who may read it",
            Self::SymbolicLink => "copy what it points to into the folder",
            Self::NotA(_) => "move it out of the way",
            Self::Replaced => "try again",
            Self::TooLarge { .. } | Self::TooMany { .. } => {
                "remove what the skill does not need, or split it"
            }
            Self::NotUtf8 => "save the file as UTF-8",
            Self::NoFrontMatter => "begin with `---`, then `name:` and `description:`, then `---`",
            Self::FrontMatterNotClosed => "end the front matter with a line that is only `---`",
            Self::InvalidYaml(_) => {
                "write each field as `name: value` on one line, and quote values with special \
                 characters; anchors, aliases and tags are refused"
            }
            Self::NotAMapping => "write each field as `name: value`",
            Self::Missing("name") => "add `name:` with the name of the folder",
            Self::Missing(_) | Self::Blank(_) => "say what the skill does and when to use it",
            Self::WrongKind { expected, .. } => match *expected {
                "a list of texts" => "write the names of the tools with blanks between them",
                "a mapping" => "write its members below it as `name: value`, indented",
                _ => "write it as one text, in quotes where needed",
            },
            Self::TooLong { .. } => "shorten it, and put the rest into the body",
            Self::NameCharacters | Self::NameHyphens => "use a name such as `pdf-forms`",
            Self::NameNotFolder(_) => "rename the folder or the skill",
            Self::Tool(problem) => problem.suggestion(),
            Self::Shadowed => "rename one of the two, or remove one",
        }
    }
}

impl From<io::Error> for SkillProblem {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.to_string())
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

    /// The skill, where its name is known: that of its folder.
    #[must_use]
    pub fn skill(&self) -> Option<&str> {
        self.0.skill.as_deref()
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

    /// What to do.
    #[must_use]
    pub fn suggestion(&self) -> &str {
        self.0.problem.suggestion()
    }

    /// What else helps to understand it: names and texts.
    #[must_use]
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// The whole in several lines, for people.
    #[must_use]
    pub fn report(&self) -> String {
        let mut report = format!("error: {}", self.0.problem);
        let mut add = |key: &str, value: &str| {
            // Writing to a text does not fail.
            let _ = write!(report, "\n  {key}: {value}");
        };
        if let Some(skill) = self.skill() {
            add("skill", skill);
        }
        add("file", &self.shown_file());
        for (key, value) in self.context() {
            add(key, value);
        }
        add("help", self.suggestion());
        report
    }

    /// The result of a tool that failed for this reason.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "success": false,
            "error": self.to_string(),
            "skill_name": self.skill(),
            "file_path": self.shown_file(),
            "suggestion": self.suggestion(),
        })
    }

    fn shown_file(&self) -> String {
        let file = visible(&self.0.file.to_string_lossy());
        self.0.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.problem)?;
        if let Some(skill) = self.skill() {
            write!(f, " | Skill: {skill}")?;
        }
        write!(f, " | File: {} | Suggestion: {}", self.shown_file(), self.suggestion())?;
        self.context().iter().try_for_each(|(key, value)| write!(f, " | {key}: {value}"))
    }
}

impl std::error::Error for SkillError {}
