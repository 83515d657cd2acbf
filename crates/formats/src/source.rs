use std::io::{self, BufRead};

use counterfoil_model::{Problem, WrongJson};
use serde_json::value::RawValue;

use crate::lines::{End, Lines, Piece};

/// How the input is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One JSON value per line.
    Lines,
    /// One JSON value that is the whole input.
    Document,
    /// Several JSON values, each over any number of lines.
    Documents,
    /// Text that is not JSON.
    Text,
}

/// The input as pieces: lines, or one document.
pub(crate) struct Source<'a> {
    lines: Lines<Box<dyn BufRead + 'a>>,
    document: String,
    /// How much of the document has been returned, in bytes and in lines.
    given: (usize, usize),
    layout: Layout,
    done: bool,
    /// Why a document could not be read to its end.
    broken: Option<Problem>,
    /// Whether earlier input was already read.
    pub(crate) continues: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn new(input: Box<dyn BufRead + 'a>, layout: Layout, max_line: usize) -> Self {
        Self {
            lines: Lines::new(input, max_line),
            document: String::new(),
            given: (0, 0),
            layout,
            done: false,
            broken: None,
            continues: false,
        }
    }

    /// The next line that is not blank, or the document; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        if self.layout == Layout::Lines {
            return self.lines.next_text();
        }
        if !self.done {
            self.done = true;
            self.document = self.lines.rest()?;
            if self.layout != Layout::Documents {
                return Ok(Some(Piece { line: 1, text: &self.document, end: End::Document }));
            }
        }
        Ok(if self.layout == Layout::Documents { self.next_document() } else { None })
    }

    /// The next of several values; text that is not JSON is returned unchanged.
    fn next_document(&mut self) -> Option<Piece<'_>> {
        let (at, lines) = self.given;
        let rest = self.document.get(at..)?;
        let begin = rest.len() - rest.trim_start().len();
        let whole = rest.get(begin..).filter(|rest| !rest.is_empty())?;
        let mut values = serde_json::Deserializer::from_str(whole).into_iter::<&RawValue>();
        let text = match values.next() {
            Some(Ok(value)) => value.get(),
            _ => whole,
        };
        let breaks = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let line = lines + breaks(rest.get(..begin).unwrap_or_default());
        self.given = (at + begin + text.len(), line + breaks(text));
        Some(Piece { line: line + 1, text, end: End::Document })
    }

    /// The number of lines read so far.
    pub(crate) fn lines(&self) -> usize {
        self.lines.count()
    }

    /// Notes that a piece that begins on this line is not JSON. A line costs only itself; a document
    /// cannot be read to its end.
    pub(crate) fn broke(&mut self, first: usize, error: &serde_json::Error) {
        if self.layout == Layout::Lines {
            return;
        }
        // Reading the values as well explains a comma too many.
        let strict = serde_json::from_str::<serde_json::Value>(&self.document).err();
        let strict = strict.filter(|strict| first == 1 && strict.line() == error.line());
        let error = strict.as_ref().unwrap_or(error);
        self.broken = Some(broken(first + error.line().saturating_sub(1), error));
    }

    /// Takes the reason why a document could not be read to its end.
    pub(crate) fn take_broken(&mut self) -> Option<Problem> {
        self.broken.take()
    }

    /// Adds problems that belong to no session.
    pub(crate) fn report(&mut self, problems: Vec<Problem>) {
        self.lines.problems.extend(problems);
    }

    /// Takes the problems with lines since the last call.
    pub(crate) fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.lines.problems)
    }
}

/// Describes a document that is not JSON from this line on.
pub(crate) fn broken(line: usize, error: &serde_json::Error) -> Problem {
    let WrongJson { what, column, .. } = WrongJson::new(error);
    let (wrong, help) = match error.is_eof() {
        true => ("the JSON document is cut off", "write the complete file, then check again"),
        false => ("not valid JSON", "fix the JSON, then check again"),
    };
    let message = format!("{wrong}: {what} (line {line}, column {column})");
    Problem::at(line, message).with_help(help)
}

/// The offset of `part` in `whole`, of which it must be a slice.
fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

/// Finds the line numbers of parts of one piece.
pub(crate) struct Locator<'p> {
    text: &'p str,
    at: usize,
    line: usize,
    first: usize,
}

impl<'p> Locator<'p> {
    pub(crate) fn new(text: &'p str, line: usize) -> Self {
        Self { text, at: 0, line, first: line }
    }

    /// The line on which `part` begins; cheapest when parts are looked up in order. A part of some
    /// other text is on the first line.
    pub(crate) fn line_of(&mut self, part: &str) -> usize {
        let to = offset(self.text, part);
        if to >= self.text.len() {
            return self.first;
        }
        if to < self.at {
            (self.at, self.line) = (0, self.first);
        }
        let between = self.text.as_bytes().get(self.at..to).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', between).count();
        self.at = to;
        self.line
    }
}
