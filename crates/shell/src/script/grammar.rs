//! A recursive-descent parser for Bash that never guesses: unknown syntax is an error.
//!
//! The text is read once, from left to right. Words are parsed in place, so a substitution ends
//! where its commands end, not at the next parenthesis.

mod arithmetic;
mod compound;
mod conditional;
mod cursor;
mod here;
mod redirects;
mod simple;
mod words;

use cursor::{Cursor, Parsed};

use super::limits::{NotAnalysable, check_text};
use super::state::Dialect;
use super::tree::{AndOr, Connector, Item, List, Node, Pipeline};

/// Parses a whole script that is nested `depth` constructs deep.
pub(super) fn parse(text: &str, depth: usize, dialect: Dialect) -> Parsed<List> {
    check_text(text)?;
    Cursor::new(text, depth, dialect).script()
}

impl Cursor<'_> {
    fn script(&mut self) -> Parsed<List> {
        let list = self.list()?;
        self.end()?;
        Ok(list)
    }

    /// Parses commands up to the end of the text or a token that closes a construct.
    fn list(&mut self) -> Parsed<List> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.closes_list() {
                break;
            }
            let pipelines = self.and_or()?;
            self.skip_blanks();
            let background = self.takes_ampersand();
            items.push(Item { pipelines, background });
            if !background && !self.takes_semicolon() && self.peek() != Some(b'\n') {
                break;
            }
        }
        Ok(List(items))
    }

    /// Parses a list of at least one command, as Bash requires in compound commands.
    fn commands(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if list.0.is_empty() { Err(self.unexpected()) } else { Ok(list) }
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let connector = if self.takes("&&") {
                Connector::And
            } else if self.takes("||") {
                Connector::Or
            } else {
                return Ok(AndOr { first, rest });
            };
            self.skip_newlines()?;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut negated = false;
        self.skip_blanks();
        let start = self.at;
        loop {
            if self.takes_keyword("!") {
                negated = !negated;
            } else if self.takes_keyword("time") {
                self.takes_keyword("-p");
                self.takes_keyword("--");
            } else {
                break;
            }
        }
        self.skip_blanks();
        // `!` and `time` may be used without a command.
        if self.at > start && matches!(self.peek(), None | Some(b'\n' | b';' | b')')) {
            return Ok(Pipeline { negated, stages: Vec::new() });
        }
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.sees("||") {
                break;
            }
            if self.takes("|&") {
                let last = stages.last_mut().and_then(Node::redirects_mut);
                last.ok_or(NotAnalysable::Uncertain { what: "`|&` after a function" })?
                    .add_error_to_output();
            } else if !self.takes("|") {
                break;
            }
            self.skip_newlines()?;
            stages.push(self.command()?);
        }
        Ok(Pipeline { negated, stages })
    }

    fn command(&mut self) -> Parsed<Node> {
        self.nested(|parser| {
            if let Some(compound) = parser.compound()? {
                return Ok(Node::Compound(compound, parser.redirects()?));
            }
            match parser.keyword() {
                Some("function") => parser.function(),
                Some("coproc") => parser.coprocess(),
                // After `|`, `time` is a program.
                None | Some("time") => parser.simple_command(),
                Some(_) => Err(parser.unexpected()),
            }
        })
    }
}
