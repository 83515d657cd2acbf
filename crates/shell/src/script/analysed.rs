use std::ops::Range;

use super::command::Command;
use super::effects::{self, Write};

/// A fully analysed command line.
///
/// There is no partial result: a single unreadable construct makes the whole text
/// [`NotAnalysable`](crate::NotAnalysable), because a skipped part might be the one that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub(super) commands: Vec<Command>,
    pub(super) functions: Vec<Function>,
    pub(super) unread: Vec<usize>,
    pub(super) substitutions: usize,
    pub(super) process_substitutions: usize,
    pub(super) here_strings: usize,
}

impl Script {
    /// Every command position at any depth, in the order of the text. A wrapper comes before what
    /// it runs, and a command before the substitutions in its words. A `for` loop is represented by
    /// the assignments it makes.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The defined functions, in the order in which their bodies end.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The positions in [`Script::commands`] of wrappers whose script is not in the text: it is in
    /// a variable, on standard input, or assembled at run time.
    #[must_use]
    pub fn unread(&self) -> &[usize] {
        &self.unread
    }

    /// The number of command substitutions, at any depth.
    #[must_use]
    pub fn substitutions(&self) -> usize {
        self.substitutions
    }

    /// The number of process substitutions, at any depth.
    #[must_use]
    pub fn process_substitutions(&self) -> usize {
        self.process_substitutions
    }

    /// The number of here-strings, at any depth.
    #[must_use]
    pub fn here_strings(&self) -> usize {
        self.here_strings
    }

    /// The files and directories written by redirects and well-known commands, in order.
    #[must_use]
    pub fn writes(&self) -> Vec<Write> {
        effects::writes(&self.commands)
    }

    /// Whether a command changes files that [`Script::writes`] does not list: by inline code, or
    /// because it finds them or is passed their names.
    #[must_use]
    pub fn changes_unnamed(&self) -> bool {
        let writes = self.writes();
        self.commands.iter().enumerate().any(|(at, command)| {
            command.writes_by_code()
                || command.changes_what_it_is_given()
                    && writes.iter().all(|write| write.command != at)
        })
    }
}

/// A function that a script defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The positions of its body in [`Script::commands`].
    pub body: Range<usize>,
}
