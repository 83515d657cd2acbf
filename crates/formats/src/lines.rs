use std::io::{self, BufRead, Read as _};

use counterfoil_model::Problem;

/// Maximum size in bytes of anything that is held in memory as a whole: a document, or an archive
/// and everything unpacked from it.
pub(crate) const LARGEST: u64 = 512 * 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";
/// A crash can leave zero bytes where lines were never written.
const BLANK: &[u8] = b" \t\r\n\0";
const NOT_UTF8: &str = "invalid UTF-8 was replaced";

/// Reads lines into one reused buffer.
///
/// A line over the limit is skipped without being held in memory, and invalid UTF-8 is replaced;
/// both are reported in `problems`.
pub(crate) struct Lines<R> {
    input: R,
    limit: usize,
    number: usize,
    bytes: Vec<u8>,
    text: String,
    /// Problems with the lines so far; the caller takes them.
    pub(crate) problems: Vec<Problem>,
}

/// One JSON text of the input: a line without its line break, or a whole document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'s> {
    /// 1-based line on which it begins.
    pub(crate) line: usize,
    /// The text.
    pub(crate) text: &'s str,
    /// What follows it.
    pub(crate) end: End,
}

/// What follows a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// A line break.
    Break,
    /// Nothing: it is the last line, and a log that is being written may go on in it.
    Input,
    /// The piece is a document, of which there is only one version: the whole.
    Document,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            limit: limit.max(1),
            number: 0,
            bytes: Vec::new(),
            text: String::new(),
            problems: Vec::new(),
        }
    }

    /// The number of lines read so far.
    pub(crate) fn count(&self) -> usize {
        self.number
    }

    /// The next line that is not blank, trimmed; `None` at the end.
    pub(crate) fn next_text(&mut self) -> io::Result<Option<Piece<'_>>> {
        let end = loop {
            self.bytes.clear();
            let (size, ended) = self.fill()?;
            if size == 0 && !ended {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.bytes.starts_with(BOM) {
                self.bytes.drain(..BOM.len());
            }
            if size > self.limit {
                self.problems.push(
                    Problem::at(
                        self.number,
                        format!("the line has {size} bytes, more than the limit of {}", self.limit),
                    )
                    .with_help("increase the line length limit"),
                );
            } else if self.bytes.iter().any(|byte| !BLANK.contains(byte)) {
                break if ended { End::Break } else { End::Input };
            }
        };
        let text = if let Ok(text) = std::str::from_utf8(&self.bytes) {
            text
        } else {
            self.problems.push(Problem::at(self.number, NOT_UTF8));
            self.text = String::from_utf8_lossy(&self.bytes).into_owned();
            &self.text
        };
        let text = text.trim_matches(|c: char| c.is_ascii() && BLANK.contains(&(c as u8)));
        Ok(Some(Piece { line: self.number, text, end }))
    }

    /// Everything that is left, as one string.
    ///
    /// # Errors
    /// When the input cannot be read, or is longer than 512 MiB.
    pub(crate) fn rest(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            let wrong = "the document is larger than 512 MiB; only JSON Lines logs may be larger";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, wrong));
        }
        if self.number == 0 && bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        self.number += memchr::memchr_iter(b'\n', &bytes).count() + 1;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| {
            let bytes = error.as_bytes();
            let good = error.utf8_error().valid_up_to();
            let before = bytes.get(..good).unwrap_or_default();
            let line = 1 + memchr::memchr_iter(b'\n', before).count();
            self.problems.push(Problem::at(line, NOT_UTF8));
            String::from_utf8_lossy(bytes).into_owned()
        }))
    }

    /// Reads up to and including the next line break. Returns the size of the line and whether it
    /// ended; bytes beyond the limit are counted but not kept.
    fn fill(&mut self) -> io::Result<(usize, bool)> {
        let mut size = 0;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok((size, false));
            }
            let found = memchr::memchr(b'\n', chunk);
            let part = chunk.get(..found.unwrap_or(chunk.len())).unwrap_or_default();
            size += part.len();
            if size <= self.limit {
                self.bytes.extend_from_slice(part);
            } else {
                self.bytes.clear();
            }
            let used = part.len() + usize::from(found.is_some());
            self.input.consume(used);
            if found.is_some() {
                return Ok((size, true));
            }
        }
    }
}
