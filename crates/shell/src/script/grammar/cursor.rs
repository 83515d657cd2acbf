//! A position in the text, and the parsing of single tokens.

use crate::script::limits::{NESTING, NotAnalysable, RETRIED};
use crate::script::state::Dialect;

pub(super) type Parsed<T> = Result<T, NotAnalysable>;

pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    /// The number of enclosing constructs.
    depth: usize,
    /// The number of enclosing substitutions within this text.
    pub(super) level: usize,
    /// The number of bytes that were read more than once.
    retried: usize,
    /// The here-documents of this line.
    pub(super) here: Option<Here>,
}

/// The here-documents of one line; they are read together with their operators.
#[derive(Clone)]
pub(super) struct Here {
    /// The end of the line.
    pub(super) line_end: usize,
    /// The position after the last here-document.
    pub(super) resume: usize,
    /// The substitution level that they belong to.
    pub(super) level: usize,
}

/// Words with a special meaning where a command may begin.
pub(super) const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, depth: usize, dialect: Dialect) -> Self {
        Self { text, at: 0, dialect, depth, level: 0, retried: 0, here: None }
    }

    /// Parses another text that is contained in this one.
    pub(super) fn within<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Cursor<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        self.nested(|outer| {
            let mut inner = Cursor::new(text, outer.depth, outer.dialect);
            inner.retried = outer.retried;
            let result = read(&mut inner);
            outer.retried = inner.retried;
            result
        })
    }

    /// Parses something one construct deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING {
            return Err(NotAnalysable::TooDeep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Goes back to the beginning of something that was misread.
    ///
    /// INVARIANT: bytes read twice are counted, so that nested attempts cannot multiply.
    pub(super) fn retry_from(&mut self, start: usize) -> Parsed<()> {
        self.retried += self.at.saturating_sub(start).max(1);
        self.at = start;
        if self.retried > RETRIED { Err(NotAnalysable::TooDeep) } else { Ok(()) }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> Parsed<&'a str> {
        self.text.get(start..end).ok_or(NotAnalysable::Uncertain { what: "a split character" })
    }

    /// The text that has not been read yet.
    pub(super) fn text_from_here(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The position after any line continuations (`\` at the end of a line), which are ignored.
    fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte, skipping line continuations.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.at = self.joined(self.at);
        self.byte(self.at)
    }

    /// The byte after the next one, skipping line continuations.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.at = self.joined(self.at);
        self.byte(self.joined(self.at + 1))
    }

    /// The position after `expected`, if that comes next.
    fn after(&self, expected: &str) -> Option<usize> {
        let mut at = self.at;
        for byte in expected.bytes() {
            at = self.joined(at);
            if self.byte(at) != Some(byte) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    pub(super) fn sees(&self, expected: &str) -> bool {
        self.after(expected).is_some()
    }

    pub(super) fn takes(&mut self, expected: &str) -> bool {
        let after = self.after(expected);
        self.at = after.unwrap_or(self.at);
        after.is_some()
    }

    /// Takes the next character.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let c = self.text.get(self.at..)?.chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes the text up to a byte, and that byte.
    pub(super) fn take_until(&mut self, end: u8) -> Parsed<&'a str> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let len = memchr::memchr(end, rest)
            .ok_or(NotAnalysable::Uncertain { what: "an unclosed quote" })?;
        self.at = start + len + 1;
        self.slice(start, start + len)
    }

    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
        if self.byte(self.at) == Some(b'#') {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
    }

    /// Skips blanks, comments and line breaks, including here-documents.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.end_line()?;
        }
    }

    /// Takes an `&` that ends a command.
    pub(super) fn takes_ampersand(&mut self) -> bool {
        !self.sees("&&") && !self.sees("&>") && self.takes("&")
    }

    /// Takes a `;` that ends a command.
    pub(super) fn takes_semicolon(&mut self) -> bool {
        !self.sees(";;") && !self.sees(";&") && self.takes(";")
    }

    /// The raw word at this position, if it may be a keyword.
    fn bare(&mut self) -> (usize, &'a str) {
        self.skip_blanks();
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let name = |b: &&u8| {
            b.is_ascii_lowercase() || matches!(b, b'!' | b'[' | b']' | b'{' | b'}' | b'-')
        };
        let end = self.at + rest.iter().take(9).take_while(name).count();
        let whole = self.byte(self.joined(end)).is_none_or(ends_word);
        let word = if whole { self.text.get(self.at..end).unwrap_or_default() } else { "" };
        (end, word)
    }

    pub(super) fn keyword(&mut self) -> Option<&'static str> {
        let (_, word) = self.bare();
        KEYWORDS.into_iter().find(|keyword| *keyword == word)
    }

    pub(super) fn takes_keyword(&mut self, expected: &str) -> bool {
        let (end, word) = self.bare();
        let found = word == expected;
        if found {
            self.at = end;
        }
        found
    }

    pub(super) fn expect_keyword(&mut self, expected: &str) -> Parsed<()> {
        if self.takes_keyword(expected) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn expect(&mut self, expected: &str) -> Parsed<()> {
        if self.takes(expected) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Whether no command can begin here.
    pub(super) fn closes_list(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.sees(";;") || self.sees(";&"),
            _ => matches!(
                self.keyword(),
                Some("then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}")
            ),
        }
    }

    /// The error for text that is not what should come next.
    pub(super) fn unexpected(&mut self) -> NotAnalysable {
        self.skip_blanks();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word: String = rest.chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        let reason = match (rest.is_empty(), word.is_empty()) {
            (true, _) => "unexpected end".to_owned(),
            (false, true) => format!("unexpected end of line at byte {}", self.at),
            (false, false) => format!("unexpected `{word}` at byte {}", self.at),
        };
        NotAnalysable::Syntax { reason }
    }
}

/// Whether a byte ends an unquoted word.
pub(super) fn ends_word(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
