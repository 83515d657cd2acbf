//! `[[ … ]]`.

use super::cursor::{Cursor, Parsed};
use super::words::{Draft, Mode};
use crate::script::tree::Parts;

const BINARY: [&str; 12] =
    ["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

impl Cursor<'_> {
    /// Parses the operands after `[[`.
    pub(super) fn test(&mut self) -> Parsed<Parts> {
        let mut parts = Parts::named("[[");
        self.alternatives(&mut parts)?;
        self.expect_keyword("]]")?;
        Ok(parts)
    }

    fn alternatives(&mut self, parts: &mut Parts) -> Parsed<()> {
        loop {
            self.skip_newlines()?;
            self.term(parts)?;
            self.skip_newlines()?;
            if !self.takes("&&") && !self.takes("||") {
                return Ok(());
            }
        }
    }

    fn term(&mut self, parts: &mut Parts) -> Parsed<()> {
        while self.takes_keyword("!") {
            self.skip_newlines()?;
        }
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.nested(|parser| parser.alternatives(parts))?;
            return self.expect(")");
        }
        let first = self.operand(Mode::Plain)?;
        if is_unary(&first) {
            let operand = self.operand(Mode::Plain)?;
            parts.args.push(operand.finish(&mut parts.found));
            return Ok(());
        }
        parts.args.push(first.finish(&mut parts.found));
        self.skip_blanks();
        if self.sees("&&") || self.sees("||") || self.peek() == Some(b')') {
            return Ok(());
        }
        if self.sees_test_end() {
            return Ok(());
        }
        let mode = self.binary_operator()?;
        let second = self.operand(mode)?;
        parts.args.push(second.finish(&mut parts.found));
        Ok(())
    }

    fn sees_test_end(&mut self) -> bool {
        let start = self.at;
        let end = self.takes_keyword("]]");
        self.at = start;
        end
    }

    /// Parses an operator, and returns how the word after it is read.
    fn binary_operator(&mut self) -> Parsed<Mode> {
        if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() != Some(b'(') {
            self.at += 1;
            return Ok(Mode::Plain);
        }
        let operator = self.operand(Mode::Plain)?;
        match operator.text.as_str() {
            _ if operator.quoted => Err(self.unexpected()),
            "=~" => Ok(Mode::Regex),
            text if BINARY.contains(&text) => Ok(Mode::Plain),
            _ => Err(self.unexpected()),
        }
    }

    fn operand(&mut self, mode: Mode) -> Parsed<Draft> {
        if self.sees_test_end() {
            return Err(self.unexpected());
        }
        self.word(mode)?.ok_or_else(|| self.unexpected())
    }
}

/// Whether this is a unary operator such as `-f`.
fn is_unary(draft: &Draft) -> bool {
    let mut letters = draft.text.bytes();
    !draft.quoted
        && letters.next() == Some(b'-')
        && letters.next().is_some_and(|b| b"abcdefghkLnNoOprRsStuvwxzG".contains(&b))
        && letters.next().is_none()
}
