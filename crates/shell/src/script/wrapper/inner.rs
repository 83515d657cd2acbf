//! What a wrapper runs.

use crate::script::command::{Position, Word};
use crate::script::state::Dialect;
use crate::script::status::Status;

/// A script or command line that a wrapper runs.
pub(in crate::script) struct Inner {
    pub(in crate::script) script: Body,
    pub(in crate::script) position: Position,
    /// The shell that interprets it; `None` for the surrounding one.
    pub(in crate::script) dialect: Option<Dialect>,
    /// How its status affects that of the wrapper.
    pub(in crate::script) status: Status,
    pub(in crate::script) errexit: bool,
    pub(in crate::script) pipefail: bool,
}

pub(in crate::script) enum Body {
    /// A script in a string.
    Text(String),
    /// A command line that is already split into words.
    Words(Vec<Word>),
    /// A script that is not in the text.
    Unread,
}

/// A script in a string; `None` if it is not in the text.
pub(super) fn script(text: Option<String>) -> Inner {
    Inner {
        script: text.map_or(Body::Unread, Body::Text),
        position: Position::Wrapper,
        dialect: Some(Dialect::Posix),
        status: Status::Decides,
        errexit: false,
        pipefail: false,
    }
}

/// A command line that is already split into words.
pub(super) fn split(words: Vec<Word>, status: Status) -> Inner {
    Inner { script: Body::Words(words), status, ..script(None) }
}

/// The words joined into one script; `None` if there are none or one is not fixed.
pub(super) fn joined(words: &[Word]) -> Option<String> {
    let mut script = String::new();
    for word in words {
        if !script.is_empty() {
            script.push(' ');
        }
        script.push_str(word.literal()?);
    }
    (!script.is_empty()).then_some(script)
}

pub(super) fn is_shell(program: &str) -> bool {
    matches!(program, "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish")
}
