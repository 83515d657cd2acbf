use std::io;

use counterfoil_model::{Problem, Transcript, WrongJson};

use crate::source::broken;

/// One session, and the problems found while reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The session.
    pub transcript: Transcript,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Whether the session holds an answer of its agent, but nothing of it could be read.
    pub unheard: bool,
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input itself failed.
    #[error("cannot read the input: {0}")]
    Io(#[from] io::Error),
    /// The input is empty.
    #[error("the input is empty")]
    Empty,
    /// The input is not a log, but a log can be extracted from it.
    #[error("this is {what}, not a log")]
    OtherKind {
        /// What it is.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// The input begins like JSON, and is none.
    #[error("not valid JSON: {}", WrongJson::new(.0))]
    NotJson(serde_json::Error),
    /// The format is not known.
    #[error("unknown log format")]
    UnknownForm {
        /// A command that converts the input to OpenAI chat messages, if it seems to hold a
        /// conversation.
        recipe: Option<String>,
    },
}

impl ReadError {
    /// [`Self::problem`] of a file, with advice that depends on its name.
    #[must_use]
    pub fn problem_of(&self, path: &str) -> Problem {
        let help = match self {
            Self::Io(cause) if cause.kind() != io::ErrorKind::NotFound => return self.problem(),
            Self::Io(_) if path.contains("://") => {
                "URLs are not read; download the log, or pipe it: `curl URL | counterfoil check -`"
            }
            Self::Io(_) if path.contains(['*', '?', '[']) => {
                "a quoted pattern is not expanded; remove the quotes, or name the folder"
            }
            _ => return self.problem(),
        };
        self.problem().with_help(help)
    }

    /// The error as a problem of the whole input, with advice.
    #[must_use]
    pub fn problem(&self) -> Problem {
        match self {
            Self::UnknownForm { recipe: Some(recipe) } => {
                let wrong = "unsupported log format; the input looks like a conversation";
                Problem::at(0, wrong).with_help(format!(
                    "convert it to `openai-chat` with `{recipe}`; include `tool_calls` and \
                     messages with the role `tool`; without them, no actions are checked"
                ))
            }
            Self::UnknownForm { recipe: None } => Problem::at(0, self.to_string()).with_help(
                "specify the format with `--from`; `counterfoil check --help` names the formats",
            ),
            Self::Empty => Problem::at(0, self.to_string()),
            Self::NotJson(error) => broken(error.line(), error),
            Self::OtherKind { instead, .. } => Problem::at(0, self.to_string()).with_help(*instead),
            Self::Io(cause) => match cause.kind() {
                io::ErrorKind::NotFound => Problem::at(0, "file not found"),
                io::ErrorKind::PermissionDenied => Problem::at(0, "permission denied"),
                _ => Problem::at(0, self.to_string()),
            },
        }
    }
}
