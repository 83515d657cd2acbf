//! Parses words: removes quotes, finds expansions, and parses the scripts in them.

use super::cursor::{Cursor, Parsed};
use crate::script::command::{Word, WordKind};
use crate::script::limits::NotAnalysable;
use crate::script::tree::{Found, List};

/// The context of a word, as far as it determines which characters end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    /// After `declare` and similar built-ins, `x=(…)` is part of the word.
    Declaration,
    /// After `=~`, parentheses and `|` are part of the word.
    Regex,
}

/// The quotes around an expansion; a here-document counts as double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Double,
}

/// A word that is being parsed.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) text: String,
    /// Whether any part of it is quoted.
    pub(super) quoted: bool,
    pub(super) dynamic: bool,
    pub(super) pattern: bool,
    /// Whether it is a single process substitution.
    pub(super) process: bool,
    bracket: bool,
    brace: bool,
    pub(super) found: Found,
}

impl Draft {
    pub(super) fn finish(self, found: &mut Found) -> Word {
        found.append(self.found);
        let kind = match (self.dynamic, self.pattern) {
            (true, _) => WordKind::Dynamic,
            (false, true) => WordKind::Pattern,
            (false, false) => WordKind::Literal,
        };
        Word { text: self.text, kind }
    }

    /// Marks the current state, for [`Draft::back_to`].
    pub(super) fn mark(&self) -> [usize; 3] {
        [self.text.len(), self.found.scripts.len(), self.found.processes.len()]
    }

    /// Discards what was read since `mark`.
    pub(super) fn back_to(&mut self, [text, scripts, processes]: [usize; 3]) {
        self.text.truncate(text);
        self.found.scripts.truncate(scripts);
        self.found.processes.truncate(processes);
    }

    /// Replaces what was read since `mark` with the expansion as written.
    fn expanded(&mut self, mark: usize, raw: &str) {
        self.dynamic = true;
        self.text.truncate(mark);
        self.text.push_str(raw);
    }

    /// Records whether an unquoted character makes the word a file pattern.
    fn note_pattern(&mut self, b: u8) {
        match b {
            b'*' | b'?' => self.pattern = true,
            // `[` alone is a command name.
            b'[' => self.bracket = true,
            b']' => self.pattern |= self.bracket,
            b'{' => self.brace = true,
            b',' | b'.' => self.pattern |= self.brace,
            _ => {}
        }
    }
}

impl Cursor<'_> {
    /// Parses a word after blanks, if one begins there.
    pub(super) fn word(&mut self, mode: Mode) -> Parsed<Option<Draft>> {
        self.skip_blanks();
        self.word_here(mode)
    }

    /// Parses a word at exactly this position; it may begin with `#`.
    pub(super) fn word_here(&mut self, mode: Mode) -> Parsed<Option<Draft>> {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(b) = self.peek() {
            match b {
                b'|' if mode == Mode::Regex => self.plain(&mut draft),
                b'(' if mode == Mode::Regex => self.group(&mut draft)?,
                b'(' if mode == Mode::Declaration && declares_array(&draft) => {
                    let (values, found) = self.array()?;
                    draft.found.append(found);
                    draft.pattern = true;
                    draft.dynamic |= values.kind == WordKind::Dynamic;
                    draft.text.push('(');
                    draft.text.push_str(&values.text);
                    draft.text.push(')');
                }
                b'<' | b'>' if self.peek_second() == Some(b'(') => {
                    let whole = self.at == start;
                    self.process(&mut draft)?;
                    draft.process = whole && self.ends_word();
                }
                _ if super::cursor::ends_word(b) => break,
                b'?' | b'*' | b'+' | b'@' | b'!' if self.peek_second() == Some(b'(') => {
                    self.plain(&mut draft);
                    self.group(&mut draft)?;
                }
                _ => {
                    draft.note_pattern(b);
                    self.part(b, &mut draft, Quotes::None)?;
                }
            }
        }
        Ok((self.at > start).then_some(draft))
    }

    fn ends_word(&mut self) -> bool {
        self.peek().is_none_or(super::cursor::ends_word)
    }

    /// Parses one character, or the quote or expansion that begins with it.
    pub(super) fn part(&mut self, b: u8, draft: &mut Draft, quotes: Quotes) -> Parsed<()> {
        match b {
            b'\\' => self.escape(draft)?,
            b'\'' => self.single_quoted(draft, quotes)?,
            b'"' => self.double_quoted(draft)?,
            b'$' => self.dollar(draft, quotes)?,
            b'`' => self.backquotes(draft, b"$`\\")?,
            _ => self.plain(draft),
        }
        Ok(())
    }

    /// Takes one character literally.
    pub(super) fn plain(&mut self, draft: &mut Draft) {
        draft.text.extend(self.take_char());
    }

    /// Takes a backslash and the character it escapes, outside quotes.
    fn escape(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.quoted = true;
        self.at += 1;
        let protected = self.take_char();
        draft
            .text
            .push(protected.ok_or(NotAnalysable::Uncertain { what: "a trailing backslash" })?);
        Ok(())
    }

    /// Takes a backslash in double quotes, where it only escapes certain characters.
    fn escape_in_quotes(&mut self, draft: &mut Draft, protects: &[u8]) -> Parsed<()> {
        if self.byte(self.at + 1).is_some_and(|b| protects.contains(&b)) {
            self.escape(draft)?;
        } else {
            self.plain(draft);
        }
        Ok(())
    }

    fn single_quoted(&mut self, draft: &mut Draft, quotes: Quotes) -> Parsed<()> {
        draft.quoted = true;
        self.at += 1;
        let inner = self.take_until(b'\'')?;
        match quotes {
            Quotes::None => draft.text.push_str(inner),
            // These quotes hide a closing brace, but not an expansion.
            Quotes::Double => self.within(inner, |parser| parser.expansions(draft))?,
        }
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.quoted = true;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(NotAnalysable::Uncertain { what: "an unclosed quote" }),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape_in_quotes(draft, b"$`\"\\")?,
                Some(b'$') => self.dollar(draft, Quotes::Double)?,
                Some(b'`') => self.backquotes(draft, b"$`\\\"")?,
                Some(_) => self.plain(draft),
            }
        }
    }

    /// Parses the rest of a text in which only expansions are special, such as a here-document.
    pub(super) fn expansions(&mut self, draft: &mut Draft) -> Parsed<()> {
        while let Some(b) = self.peek() {
            match b {
                b'\\' => self.escape_in_quotes(draft, b"$`\\")?,
                b'$' => self.dollar(draft, Quotes::Double)?,
                b'`' => self.backquotes(draft, b"$`\\")?,
                _ => self.plain(draft),
            }
        }
        self.end()
    }

    /// Parses `$'…'` and decodes its escapes. An escape that is not a character makes the word
    /// dynamic.
    fn ansi_quoted(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.quoted = true;
        self.at += 1;
        loop {
            match self.take_char() {
                None => return Err(NotAnalysable::Uncertain { what: "an unclosed quote" }),
                Some('\'') => return Ok(()),
                Some('\\') => match self.ansi_escape() {
                    Some(decoded) => draft.text.push(decoded),
                    None => draft.dynamic = true,
                },
                Some(c) => draft.text.push(c),
            }
        }
    }

    /// Decodes an escape in `$'…'`, after the backslash.
    fn ansi_escape(&mut self) -> Option<char> {
        let code = match self.take_char()? {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            c @ ('\\' | '\'' | '"' | '?') => u32::from(c),
            'x' => self.digits(16, 2)?,
            'u' => self.digits(16, 4)?,
            'U' => self.digits(16, 8)?,
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3)?
            }
            _ => return None,
        };
        // Bash ends the text at a NUL, and from 128 to 255 these escapes may be bytes.
        char::from_u32(code).filter(|c| *c != '\0' && !(128..=255).contains(&code))
    }

    /// Reads a number of at most `most` digits; `None` if there is none.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let rest = self.text_from_here();
            let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(radix)) else { break };
            number = Some(number.unwrap_or(0) * radix + digit);
            self.at += 1;
        }
        number
    }

    /// Parses `$'…'` in an expansion in double quotes. It hides a closing brace, but not an
    /// expansion.
    fn ansi_in_quotes(&mut self, draft: &mut Draft) -> Parsed<()> {
        let start = self.at + 1;
        self.ansi_quoted(&mut Draft::default())?;
        let inner = self.slice(start, self.at - 1)?;
        self.within(inner, |parser| parser.expansions(draft))
    }

    /// Parses anything that begins with `$`.
    fn dollar(&mut self, draft: &mut Draft, quotes: Quotes) -> Parsed<()> {
        let (start, mark) = (self.at, draft.text.len());
        self.at += 1;
        match self.peek() {
            Some(b'(') => self.nested(|parser| {
                if parser.sees("((") && parser.arithmetic(draft)? {
                    return Ok(());
                }
                let script = parser.in_parentheses()?;
                draft.found.scripts.push(script);
                Ok(())
            })?,
            Some(b'{') => self.nested(|parser| parser.braces(draft, quotes))?,
            Some(b'[') => self.old_arithmetic(draft)?,
            Some(b'\'') if quotes == Quotes::None => return self.ansi_quoted(draft),
            Some(b'"') if quotes == Quotes::None => return self.double_quoted(draft),
            Some(b) if b == b'_' || b.is_ascii_alphanumeric() => {
                draft.dynamic = true;
                draft.text.push('$');
                return Ok(());
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                draft.dynamic = true;
                draft.text.push('$');
                self.plain(draft);
                return Ok(());
            }
            _ => {
                draft.text.push('$');
                return Ok(());
            }
        }
        draft.expanded(mark, self.slice(start, self.at)?);
        Ok(())
    }

    /// Parses the commands in the `(…)` of a substitution.
    fn in_parentheses(&mut self) -> Parsed<List> {
        self.expect("(")?;
        self.level += 1;
        let list = self.list()?;
        if self.peek() != Some(b')') {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.end_level()?;
        Ok(list)
    }

    /// Parses `<(…)` or `>(…)`.
    fn process(&mut self, draft: &mut Draft) -> Parsed<()> {
        let (start, mark) = (self.at, draft.text.len());
        self.at += 1;
        self.peek();
        let list = self.nested(Self::in_parentheses)?;
        draft.found.processes.push(list);
        draft.expanded(mark, self.slice(start, self.at)?);
        Ok(())
    }

    /// Parses the `{…}` of `${…}`.
    fn braces(&mut self, draft: &mut Draft, quotes: Quotes) -> Parsed<()> {
        self.at += 1;
        if let Some(b' ' | b'\t' | b'\n' | b'|') = self.peek() {
            return Err(NotAnalysable::Uncertain { what: "a script in `${…}`" });
        }
        loop {
            match self.peek() {
                None => {
                    return Err(NotAnalysable::Uncertain { what: "an unclosed expansion" });
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'$') if quotes == Quotes::Double && self.peek_second() == Some(b'\'') => {
                    self.at += 1;
                    self.peek();
                    self.ansi_in_quotes(draft)?;
                }
                Some(b'<' | b'>') if quotes == Quotes::None && self.peek_second() == Some(b'(') => {
                    return Err(NotAnalysable::Uncertain {
                        what: "a process substitution in an expansion",
                    });
                }
                Some(b) => self.part(b, draft, quotes)?,
            }
        }
    }

    /// Parses a script in backquotes. A backslash before a character in `protects` is removed.
    fn backquotes(&mut self, draft: &mut Draft, protects: &[u8]) -> Parsed<()> {
        let (start, mark) = (self.at, draft.text.len());
        let mut script = String::new();
        self.at += 1;
        loop {
            match self.take_char() {
                None => return Err(NotAnalysable::Uncertain { what: "an unclosed backquote" }),
                Some('`') => break,
                Some('\\') => match self.byte(self.at) {
                    Some(b) if protects.contains(&b) => script.extend(self.take_char()),
                    _ => script.push('\\'),
                },
                Some(c) => script.push(c),
            }
        }
        let list = self.within(&script, |inner| inner.script())?;
        draft.found.scripts.push(list);
        draft.expanded(mark, self.slice(start, self.at)?);
        Ok(())
    }

    /// Parses the `(…)` of a pattern or regular expression.
    fn group(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.pattern = true;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return Err(NotAnalysable::Uncertain { what: "an unclosed pattern" }),
                Some(b'(') => {
                    open += 1;
                    self.plain(draft);
                }
                Some(b')') => {
                    open -= 1;
                    self.plain(draft);
                    if open == 0 {
                        return Ok(());
                    }
                }
                Some(b'<' | b'>') if self.peek_second() == Some(b'(') => {
                    return Err(NotAnalysable::Uncertain {
                        what: "a process substitution in a pattern",
                    });
                }
                Some(b) => self.part(b, draft, Quotes::None)?,
            }
        }
    }
}

/// Whether a `(` would begin an array value.
fn declares_array(draft: &Draft) -> bool {
    let name = draft.text.strip_suffix('=').map(|name| name.strip_suffix('+').unwrap_or(name));
    !draft.quoted && !draft.dynamic && name.is_some_and(is_name)
}

/// Whether this is a valid variable name.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
        && text.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}
