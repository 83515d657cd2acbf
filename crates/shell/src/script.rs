use std::str::FromStr;

mod analysed;
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

pub use analysed::{Function, Script};
pub use command::{
    Assignment, Command, Destination, Direction, Position, Redirect, Stream, Target, Word, WordKind,
};
pub use doubt::Doubt;
pub use effects::{Effect, Write};
pub use limits::NotAnalysable;
pub(crate) use limits::check_text;
pub use status::{Masking, Status};

impl Script {
    /// Parses the text as Bash.
    ///
    /// # Errors
    /// When the syntax is unknown to the grammar, or nesting or length exceeds the limits.
    pub fn parse(text: &str) -> Result<Self, NotAnalysable> {
        walk::read(text)
    }
}

impl FromStr for Script {
    type Err = NotAnalysable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
