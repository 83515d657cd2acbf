//! Redirects.

use super::cursor::{Cursor, Parsed};
use super::here::Tabs;
use super::words::{Mode, is_name};
use crate::script::command::{Direction, Redirect, Stream, Target};
use crate::script::limits::NotAnalysable;

#[derive(Clone, Copy)]
enum Kind {
    File,
    Duplicate,
    Both,
    Here(Tabs),
    HereString,
}

/// The operators, longer ones first, each with the stream it affects by default.
const OPERATORS: [(&str, Kind, i32, Direction); 12] = [
    ("<<<", Kind::HereString, 0, Direction::Inline),
    ("<<-", Kind::Here(Tabs::Dropped), 0, Direction::Inline),
    ("<<", Kind::Here(Tabs::Kept), 0, Direction::Inline),
    ("<&", Kind::Duplicate, 0, Direction::Duplicate),
    ("<>", Kind::File, 0, Direction::ReadWrite),
    ("<", Kind::File, 0, Direction::Read),
    (">>", Kind::File, 1, Direction::Append),
    (">&", Kind::Duplicate, 1, Direction::Duplicate),
    (">|", Kind::File, 1, Direction::Write),
    (">", Kind::File, 1, Direction::Write),
    ("&>>", Kind::Both, 1, Direction::Append),
    ("&>", Kind::Both, 1, Direction::Write),
];

/// The first descriptor the shell may choose for `{name}>`.
const CHOSEN: i32 = 10;
use crate::script::tree::Parts;

impl Cursor<'_> {
    /// Parses the redirects after a compound command.
    pub(super) fn redirects(&mut self) -> Parsed<Parts> {
        let mut parts = Parts::default();
        while self.redirect(&mut parts)? {}
        Ok(parts)
    }

    /// Parses one redirect, if one begins here.
    pub(super) fn redirect(&mut self, parts: &mut Parts) -> Parsed<bool> {
        self.skip_blanks();
        let fd = self.descriptor()?;
        if fd.is_none()
            && (!matches!(self.peek(), Some(b'<' | b'>' | b'&')) || self.begins_process())
        {
            return Ok(false);
        }
        let usable = |kind: Kind| fd.is_none() || !matches!(kind, Kind::Both);
        let operator =
            OPERATORS.into_iter().find(|(text, kind, ..)| usable(*kind) && self.takes(text));
        let Some((_, kind, usual, direction)) = operator else { return Ok(false) };
        let stream = Stream::Fd(fd.unwrap_or(usual));
        let redirect = match kind {
            Kind::Here(tabs) => {
                let text = self.here_document(tabs, &mut parts.found)?;
                Redirect { stream, direction, target: Target::Text(text) }
            }
            Kind::HereString => {
                parts.here_strings += 1;
                let word = self.word(Mode::Plain)?.ok_or_else(|| self.unexpected())?;
                let text = word.finish(&mut parts.found);
                Redirect { stream, direction, target: Target::Text(text) }
            }
            Kind::File => Redirect { stream, direction, target: self.file(parts)? },
            Kind::Both => {
                let target = self.file(parts)?;
                Redirect { stream: Stream::OutputAndError, direction, target }
            }
            Kind::Duplicate => self.duplicate(fd, usual, parts)?,
        };
        parts.redirects.push(redirect);
        Ok(true)
    }

    fn begins_process(&mut self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() == Some(b'(')
    }

    /// Parses the `2` of `2>` or the `{name}` of `{name}>`.
    fn descriptor(&mut self) -> Parsed<Option<i32>> {
        let start = self.at;
        let mut end = start;
        while self
            .byte(end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'{' | b'}'))
        {
            end += 1;
        }
        let text = self.slice(start, end)?;
        let operator =
            matches!(self.byte(end), Some(b'<' | b'>')) && self.byte(end + 1) != Some(b'(');
        if text.is_empty() || !operator {
            return Ok(None);
        }
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        if name.is_some_and(is_name) {
            self.at = end;
            return Ok(Some(CHOSEN));
        }
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(None);
        }
        let fd: u16 = text
            .parse()
            .map_err(|_| NotAnalysable::Uncertain { what: "a file descriptor out of range" })?;
        self.at = end;
        Ok(Some(i32::from(fd)))
    }

    fn file(&mut self, parts: &mut Parts) -> Parsed<Target> {
        let word = self.word(Mode::Plain)?.ok_or_else(|| self.unexpected())?;
        let process = word.process;
        let word = word.finish(&mut parts.found);
        Ok(if process { Target::Process } else { Target::File(word) })
    }

    fn duplicate(&mut self, fd: Option<i32>, usual: i32, parts: &mut Parts) -> Parsed<Redirect> {
        let stream = Stream::Fd(fd.unwrap_or(usual));
        let target = self.file(parts)?;
        let Target::File(word) = target else {
            return Ok(Redirect { stream, direction: Direction::Duplicate, target });
        };
        let digits = word.text.strip_suffix('-').unwrap_or(&word.text);
        let target = if word.text == "-" {
            Target::Closed
        } else if let Ok(fd) = digits.parse() {
            Target::Fd(fd)
        } else {
            // `>&name` is an old spelling of `&>name`.
            let both = fd.is_none() && usual == 1;
            let stream = if both { Stream::OutputAndError } else { stream };
            return Ok(Redirect {
                stream,
                direction: Direction::Write,
                target: Target::File(word),
            });
        };
        Ok(Redirect { stream, direction: Direction::Duplicate, target })
    }
}
