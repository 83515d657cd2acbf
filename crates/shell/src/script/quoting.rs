//! Raw words: quotes removed, expansions found.
//!
//! Written here although the grammar's crate has a word parser: that one takes a process-wide
//! lock, panics on `~+99999999999999999999` and needs exponential time for nested `$((`.

use super::command::{Word, WordKind};
use super::limits::{LEVELS, NotAnalysable};

/// Reads one raw word. The scripts of its command substitutions are added to `scripts`.
pub(super) fn read_word(raw: &str, scripts: &mut Vec<String>) -> Result<Word, NotAnalysable> {
    let special =
        |b: u8| matches!(b, b'$' | b'`' | b'"' | b'\'' | b'\\' | b'*' | b'?' | b'[' | b'{' | b'(');
    if !raw.bytes().any(special) {
        return Ok(Word::fixed(raw));
    }
    let mut reader = Reader::new(raw, scripts, 0);
    reader.unquoted()?;
    let kind = match (reader.dynamic, reader.pattern) {
        (true, _) => WordKind::Dynamic,
        (false, true) => WordKind::Pattern,
        (false, false) => WordKind::Literal,
    };
    Ok(Word { text: reader.text, kind })
}

/// Reads text in which only expansions mean something: a here-document, arithmetic, the inside
/// of `${…}`. Quotes are ordinary characters, so that nothing is overlooked.
pub(super) fn read_expansions(raw: &str, scripts: &mut Vec<String>) -> Result<Word, NotAnalysable> {
    expansions(raw, scripts, 0)
}

fn expansions(raw: &str, scripts: &mut Vec<String>, level: usize) -> Result<Word, NotAnalysable> {
    if !raw.bytes().any(|b| matches!(b, b'$' | b'`' | b'\\')) {
        return Ok(Word::fixed(raw));
    }
    let mut reader = Reader::new(raw, scripts, level);
    while let Some(b) = reader.peek() {
        match b {
            b'\\' => reader.escape(),
            b'$' => reader.dollar()?,
            b'`' => reader.backquotes()?,
            _ => reader.plain(),
        }
    }
    let kind = if reader.dynamic { WordKind::Dynamic } else { WordKind::Literal };
    Ok(Word { text: reader.text, kind })
}

struct Reader<'a, 's> {
    raw: &'a str,
    at: usize,
    text: String,
    scripts: &'s mut Vec<String>,
    level: usize,
    dynamic: bool,
    pattern: bool,
}

impl<'a, 's> Reader<'a, 's> {
    fn new(raw: &'a str, scripts: &'s mut Vec<String>, level: usize) -> Self {
        let text = String::with_capacity(raw.len());
        Self { raw, at: 0, text, scripts, level, dynamic: false, pattern: false }
    }

    fn peek(&self) -> Option<u8> {
        self.raw.as_bytes().get(self.at).copied()
    }

    fn peek_after(&self, n: usize) -> Option<u8> {
        self.raw.as_bytes().get(self.at + n).copied()
    }

    fn slice(&self, start: usize, end: usize) -> Result<&'a str, NotAnalysable> {
        self.raw.get(start..end).ok_or(NotAnalysable::Uncertain { what: "a cut character" })
    }

    /// Takes one character as it is.
    fn plain(&mut self) {
        if let Some(c) = self.raw.get(self.at..).and_then(|rest| rest.chars().next()) {
            self.text.push(c);
            self.at += c.len_utf8();
        } else {
            self.at += 1;
        }
    }

    /// Takes a backslash and what it protects, outside quotes.
    fn escape(&mut self) {
        self.at += 1;
        match self.peek() {
            Some(b'\n') => self.at += 1,
            Some(_) => self.plain(),
            None => self.text.push('\\'),
        }
    }

    fn unquoted(&mut self) -> Result<(), NotAnalysable> {
        let mut brace = false;
        while let Some(b) = self.peek() {
            match b {
                b'\\' => self.escape(),
                b'\'' => self.single_quoted()?,
                b'"' => self.double_quoted()?,
                b'$' if self.peek_after(1) == Some(b'\'') => self.ansi_quoted()?,
                b'$' if self.peek_after(1) == Some(b'"') => self.at += 1,
                b'$' => self.dollar()?,
                b'`' => self.backquotes()?,
                _ => {
                    match b {
                        b'*' | b'?' | b'(' => self.pattern = true,
                        // `[` alone is the name of a command.
                        b'[' => self.pattern |= self.raw.get(self.at..).is_some_and(closes),
                        b'{' => brace = true,
                        b',' | b'.' if brace => self.pattern = true,
                        _ => {}
                    }
                    self.plain();
                }
            }
        }
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), NotAnalysable> {
        let start = self.at + 1;
        let rest = self.raw.as_bytes().get(start..).unwrap_or_default();
        let end = memchr::memchr(b'\'', rest)
            .ok_or(NotAnalysable::Uncertain { what: "an open quote" })?
            + start;
        let inner = self.slice(start, end)?;
        self.text.push_str(inner);
        self.at = end + 1;
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), NotAnalysable> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(NotAnalysable::Uncertain { what: "an open quote" }),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => match self.peek_after(1) {
                    Some(b'$' | b'`' | b'"' | b'\\' | b'\n') => self.escape(),
                    _ => self.plain(),
                },
                Some(b'$') => self.dollar()?,
                Some(b'`') => self.backquotes()?,
                Some(_) => self.plain(),
            }
        }
    }

    /// `$'…'`: the common escapes are decoded, the others make the word dynamic.
    fn ansi_quoted(&mut self) -> Result<(), NotAnalysable> {
        self.at += 2;
        loop {
            match self.peek() {
                None => return Err(NotAnalysable::Uncertain { what: "an open quote" }),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let decoded = match self.peek_after(1) {
                        Some(b'n') => '\n',
                        Some(b't') => '\t',
                        Some(b'r') => '\r',
                        Some(b'\\') => '\\',
                        Some(b'\'') => '\'',
                        Some(b'"') => '"',
                        _ => {
                            self.dynamic = true;
                            '\\'
                        }
                    };
                    self.text.push(decoded);
                    self.at += 1;
                    if self.peek().is_some_and(|b| b.is_ascii()) {
                        self.at += 1;
                    }
                }
                Some(_) => self.plain(),
            }
        }
    }

    /// Anything that begins with `$`.
    fn dollar(&mut self) -> Result<(), NotAnalysable> {
        let start = self.at;
        let open_end = |end: Option<usize>| {
            end.ok_or(NotAnalysable::Uncertain { what: "an expansion without an end" })
        };
        match self.peek_after(1) {
            Some(b'(') if self.peek_after(2) == Some(b'(') => {
                // Arithmetic only if the second parenthesis closes right before the first:
                // `$((a) | (b))` runs commands.
                let arithmetic = closing(self.raw, start + 3, Inside::Arithmetic)
                    .map(|end| end + 1)
                    .filter(|end| self.raw.as_bytes().get(*end) == Some(&b')'));
                if let Some(end) = arithmetic {
                    let inner = self.slice(start + 3, end - 1)?;
                    self.nested(inner)?;
                    self.expanded(start, end + 1)
                } else {
                    let end = open_end(closing(self.raw, start + 2, Inside::Commands))?;
                    self.scripts.push(self.slice(start + 2, end)?.to_owned());
                    self.expanded(start, end + 1)
                }
            }
            Some(b'(') => {
                let end = open_end(closing(self.raw, start + 2, Inside::Commands))?;
                self.scripts.push(self.slice(start + 2, end)?.to_owned());
                self.expanded(start, end + 1)
            }
            Some(b'{') => {
                let strict = closing(self.raw, start + 2, Inside::Braces);
                let loose = closing(self.raw, start + 2, Inside::BracesWithApostrophes);
                let end = open_end(strict.or(loose))?;
                let inner = self.slice(start + 2, end)?;
                self.nested(inner)?;
                self.expanded(start, end + 1)
            }
            // `$[…]` needs no end: what stands inside is read like the rest.
            Some(b) if b == b'_' || b == b'[' || b.is_ascii_alphanumeric() => {
                self.dynamic = true;
                self.plain();
                Ok(())
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.dynamic = true;
                self.plain();
                self.plain();
                Ok(())
            }
            _ => {
                self.plain();
                Ok(())
            }
        }
    }

    fn nested(&mut self, inner: &str) -> Result<(), NotAnalysable> {
        if self.level >= LEVELS {
            return Err(NotAnalysable::TooDeep);
        }
        expansions(inner, self.scripts, self.level + 1).map(drop)
    }

    fn expanded(&mut self, start: usize, end: usize) -> Result<(), NotAnalysable> {
        self.dynamic = true;
        let raw = self.slice(start, end)?;
        self.text.push_str(raw);
        self.at = end;
        Ok(())
    }

    fn backquotes(&mut self) -> Result<(), NotAnalysable> {
        let start = self.at;
        let mut script = String::new();
        self.at += 1;
        loop {
            let rest = self.raw.get(self.at..).unwrap_or_default();
            let mut chars = rest.chars();
            match chars.next() {
                None => return Err(NotAnalysable::Uncertain { what: "an open backquote" }),
                Some('`') => break,
                Some('\\') => match chars.next() {
                    Some(c @ ('`' | '\\' | '$')) => {
                        script.push(c);
                        self.at += 2;
                    }
                    _ => {
                        script.push('\\');
                        self.at += 1;
                    }
                },
                Some(c) => {
                    script.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.scripts.push(script);
        self.expanded(start, self.at + 1)
    }
}

fn closes(rest: &str) -> bool {
    rest.contains(']')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// `$(…)` and `(…)` in it.
    Commands,
    /// `$((…))`.
    Arithmetic,
    /// `${…}`; a quote begins a quoted part.
    Braces,
    /// `${…}` in which `'` is an ordinary character, as in `"${x:-it's}"`.
    BracesWithApostrophes,
    /// `"…"`.
    Quotes,
    /// `case … esac`, where `)` ends a pattern.
    Case,
}

/// The position of the byte that closes a construct whose content begins at `start`.
fn closing(raw: &str, start: usize, inside: Inside) -> Option<usize> {
    let bytes = raw.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut stack = vec![inside];
    let mut at = start;
    let mut here_tags: Vec<(String, bool)> = Vec::new();
    let mut starts_command = true;
    while let (Some(&top), Some(b)) = (stack.last(), byte(at)) {
        let commands = matches!(top, Inside::Commands | Inside::Case);
        let mut next_starts_command = starts_command && matches!(b, b' ' | b'\t');
        let mut step = 1;
        match b {
            b'\\' => step = 2,
            b'\'' if matches!(top, Inside::Commands | Inside::Case | Inside::Braces) => {
                let ansi = at > 0 && byte(at - 1) == Some(b'$');
                at = quote_end(bytes, at + 1, ansi)?;
            }
            b'`' => at = backquote_end(bytes, at + 1)?,
            b'"' if top == Inside::Quotes => drop(stack.pop()),
            b'"' if top != Inside::Arithmetic => stack.push(Inside::Quotes),
            b'$' if byte(at + 1) == Some(b'(') && byte(at + 2) == Some(b'(') => {
                stack.extend([Inside::Arithmetic, Inside::Arithmetic]);
                step = 3;
            }
            b'$' if byte(at + 1) == Some(b'(') => {
                stack.push(Inside::Commands);
                next_starts_command = true;
                step = 2;
            }
            b'$' if byte(at + 1) == Some(b'{') => {
                let apostrophes = matches!(top, Inside::Quotes | Inside::BracesWithApostrophes);
                stack.push(if apostrophes {
                    Inside::BracesWithApostrophes
                } else {
                    Inside::Braces
                });
                step = 2;
            }
            b'}' if matches!(top, Inside::Braces | Inside::BracesWithApostrophes) => {
                stack.pop();
            }
            b'(' if commands => {
                stack.push(Inside::Commands);
                next_starts_command = true;
            }
            b'(' if top == Inside::Arithmetic => stack.push(Inside::Arithmetic),
            b')' if matches!(top, Inside::Commands | Inside::Arithmetic) => drop(stack.pop()),
            b')' if top == Inside::Case => next_starts_command = true,
            b'#' if commands && is_word_start(bytes, at) => {
                let rest = bytes.get(at..).unwrap_or_default();
                at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                step = 0;
            }
            b'<' if commands && bytes.get(at..at + 2) == Some(b"<<") => {
                if byte(at + 2) == Some(b'<') {
                    step = 3;
                } else {
                    let (tag, end) = here_tag(raw, at + 2)?;
                    here_tags.push(tag);
                    at = end;
                    step = 0;
                }
            }
            b'\n' if commands => {
                next_starts_command = true;
                at += 1;
                for (tag, tabs) in here_tags.drain(..) {
                    at = after_here_document(bytes, at, &tag, tabs)?;
                }
                step = 0;
            }
            b';' | b'&' | b'|' => next_starts_command = true,
            _ if commands
                && starts_command
                && b.is_ascii_lowercase()
                && is_word_start(bytes, at) =>
            {
                let rest = bytes.get(at..).unwrap_or_default();
                let word = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
                match rest.get(..word) {
                    Some(b"case") => stack.push(Inside::Case),
                    Some(b"esac") if top == Inside::Case => drop(stack.pop()),
                    Some(b"then" | b"do" | b"else" | b"elif" | b"if" | b"while" | b"until") => {
                        next_starts_command = true;
                    }
                    _ => {}
                }
                step = word.max(1);
            }
            _ => {}
        }
        if stack.is_empty() {
            return Some(at);
        }
        starts_command = next_starts_command;
        at += step;
    }
    None
}

fn is_word_start(bytes: &[u8], at: usize) -> bool {
    at == 0
        || bytes
            .get(at - 1)
            .is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')'))
}

/// The position of the quote that ends a single-quoted part.
fn quote_end(bytes: &[u8], start: usize, ansi: bool) -> Option<usize> {
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'\\' if ansi => at += 2,
            b'\'' => return Some(at),
            _ => at += 1,
        }
    }
}

fn backquote_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'`' => return Some(at),
            _ => at += 1,
        }
    }
}

/// The delimiter after `<<`, whether leading tabs are dropped, and where the delimiter ends.
fn here_tag(raw: &str, start: usize) -> Option<((String, bool), usize)> {
    let bytes = raw.as_bytes();
    let tabs = bytes.get(start) == Some(&b'-');
    let mut at = start + usize::from(tabs);
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    let rest = raw.get(at..)?;
    let len = rest
        .find(|c: char| c.is_ascii_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | ')'))
        .unwrap_or(rest.len());
    let tag = rest.get(..len)?.replace(['\'', '"', '\\'], "");
    if tag.is_empty() { None } else { Some(((tag, tabs), at + len)) }
}

/// Where the line after the delimiter begins.
fn after_here_document(bytes: &[u8], start: usize, tag: &str, tabs: bool) -> Option<usize> {
    let mut at = start;
    while at <= bytes.len() {
        let rest = bytes.get(at..)?;
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let mut line = rest.get(..len)?;
        while tabs && line.first() == Some(&b'\t') {
            line = line.get(1..)?;
        }
        if line == tag.as_bytes() {
            return Some((at + len + 1).min(bytes.len()));
        }
        at += len + 1;
    }
    None
}
