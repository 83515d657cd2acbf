//! Here-documents, whose text begins on the line after the operator.

use super::cursor::{Cursor, Here, Parsed};
use super::words::{Draft, Mode};
use crate::script::command::Word;
use crate::script::limits::NotAnalysable;
use crate::script::tree::Found;

const UNCLEAR: NotAnalysable =
    NotAnalysable::Uncertain { what: "a here-document with an ambiguous beginning" };

impl Cursor<'_> {
    /// Goes to the next line, past any here-documents.
    ///
    /// INVARIANT: a here-document was read from the end of exactly this line, or this is an error:
    /// a quote or substitution that spans the end of the line is not supported.
    pub(super) fn end_line(&mut self) -> Parsed<()> {
        match self.here.take() {
            None => self.at += 1,
            Some(here) if here.line_end == self.at && here.level == self.level => {
                self.at = here.resume;
            }
            Some(_) => return Err(UNCLEAR),
        }
        Ok(())
    }

    /// Checks that the text ends here, with nothing left open.
    pub(super) fn end(&mut self) -> Parsed<()> {
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        if self.here.is_some() { Err(UNCLEAR) } else { Ok(()) }
    }

    /// Ends a substitution, and checks that nothing is left open in it.
    pub(super) fn end_level(&mut self) -> Parsed<()> {
        match &self.here {
            Some(here) if here.level >= self.level => Err(UNCLEAR),
            _ => {
                self.level -= 1;
                Ok(())
            }
        }
    }

    /// Parses what follows `<<` or `<<-`: the delimiter and the document itself.
    pub(super) fn here_document(&mut self, tabs: Tabs, found: &mut Found) -> Parsed<Word> {
        self.skip_blanks();
        let start = self.at;
        let delimiter = self.word(Mode::Plain)?.ok_or_else(|| self.unexpected())?;
        let raw = self.slice(start, self.at)?;
        if raw.contains(['$', '`', '\n', '(']) {
            return Err(NotAnalysable::Uncertain { what: "an unusual here-document delimiter" });
        }
        let literal = delimiter.quoted;
        let tag = delimiter.finish(found).text;
        let mut here = match self.here.take() {
            Some(here) if here.level == self.level && here.line_end >= self.at => here,
            Some(_) => return Err(UNCLEAR),
            None => {
                let line_end = self.line_end()?;
                Here { line_end, resume: line_end + 1, level: self.level }
            }
        };
        let (body, after) = self.document(here.resume, &tag, literal, tabs)?;
        here.resume = after;
        self.here = Some(here);
        if literal {
            return Ok(Word::fixed(body));
        }
        self.within(&body, |inner| {
            let mut draft = Draft::default();
            inner.expansions(&mut draft)?;
            Ok(draft)
        })
        .map(|draft| draft.finish(found))
    }

    /// The end of this line, skipping line continuations.
    fn line_end(&self) -> Parsed<usize> {
        let mut at = self.at;
        let mut comment = false;
        loop {
            match self.byte(at) {
                None => {
                    return Err(NotAnalysable::Uncertain { what: "an unterminated here-document" });
                }
                Some(b'\n') => return Ok(at),
                // A comment does not continue on the next line.
                Some(b'\\') if comment => return Err(UNCLEAR),
                Some(b'\\') => at += 2,
                Some(b) => {
                    comment |= b == b'#';
                    at += 1;
                }
            }
        }
    }

    /// The document that begins at `at`, and the position of the line after its delimiter.
    fn document(
        &self,
        mut at: usize,
        tag: &str,
        literal: bool,
        tabs: Tabs,
    ) -> Parsed<(String, usize)> {
        let mut body = String::new();
        loop {
            if self.byte(at).is_none() {
                return Err(NotAnalysable::Uncertain { what: "an unterminated here-document" });
            }
            let (line, after) = self.document_line(at, literal)?;
            let line = match tabs {
                Tabs::Kept => line.as_str(),
                Tabs::Dropped => line.trim_start_matches('\t'),
            };
            at = after;
            if line == tag {
                return Ok((body, after));
            }
            // Bash may end the document here and read the rest of the line as commands.
            let cut = self.level > 0 && line.strip_prefix(tag).is_some_and(|r| r.contains(')'));
            if cut {
                return Err(UNCLEAR);
            }
            body.push_str(line);
            body.push('\n');
        }
    }

    /// One line of a document, and the position of the next.
    fn document_line(&self, start: usize, literal: bool) -> Parsed<(String, usize)> {
        let mut line = String::new();
        let mut from = start;
        let mut at = start;
        loop {
            match self.byte(at) {
                Some(b'\\') if !literal && self.byte(at + 1) == Some(b'\n') => {
                    line.push_str(self.slice(from, at)?);
                    at += 2;
                    from = at;
                }
                Some(b'\\') if !literal && self.byte(at + 1).is_some() => at += 2,
                Some(b'\n') | None => {
                    line.push_str(self.slice(from, at)?);
                    return Ok((line, (at + 1).min(self.len())));
                }
                Some(_) => at += 1,
            }
        }
    }
}

/// The treatment of leading tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tabs {
    Kept,
    Dropped,
}
