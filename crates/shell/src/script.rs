use std::ops::Range;
use std::str::FromStr;

mod command;
mod doings;
mod doubt;
mod effects;
mod grammar;
mod limits;
mod simple;
mod state;
mod status;
mod tree;
mod variables;
mod walk;
mod wrapper;

pub use command::{
    Assignment, Command, Destination, Direction, Position, Redirect, Stream, Target, Word, WordKind,
};
pub use doubt::Doubt;
pub use effects::{Effect, Write};
pub use limits::NotAnalysable;
pub use status::{Masking, Status};

/// A command line that was understood as a whole.
///
/// There is no partial result: one construct that cannot be read makes the whole text
/// [`NotAnalysable`], because whatever was skipped might be the part that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    commands: Vec<Command>,
    functions: Vec<Function>,
    unread: Vec<usize>,
    substitutions: usize,
    process_substitutions: usize,
    here_strings: usize,
}

impl Script {
    /// Reads the text as Bash.
    ///
    /// # Errors
    /// Syntax that the grammar does not know, or nesting and length beyond what is read.
    pub fn parse(text: &str) -> Result<Self, NotAnalysable> {
        walk::read(text)
    }

    /// Every command position at any depth, in the order of the text. A wrapper stands before
    /// what it runs, and a command before the substitutions in its words. A `for` loop stands as the
    /// assignments that it makes.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The functions that it defines, in the order in which their bodies end.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The positions in [`Script::commands`] of wrappers that run something the text does not
    /// hold: a script in a variable, on standard input, or put together when it runs.
    #[must_use]
    pub fn unread(&self) -> &[usize] {
        &self.unread
    }

    /// How many command substitutions there are, at any depth.
    #[must_use]
    pub fn substitutions(&self) -> usize {
        self.substitutions
    }

    /// How many process substitutions there are, at any depth.
    #[must_use]
    pub fn process_substitutions(&self) -> usize {
        self.process_substitutions
    }

    /// How many here-strings there are, at any depth.
    #[must_use]
    pub fn here_strings(&self) -> usize {
        self.here_strings
    }

    /// The files and directories that redirects and well-known commands write, in order.
    #[must_use]
    pub fn writes(&self) -> Vec<Write> {
        effects::writes(&self.commands)
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

impl FromStr for Script {
    type Err = NotAnalysable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
