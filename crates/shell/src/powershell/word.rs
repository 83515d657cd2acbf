//! Arguments, texts and variables.

use super::reader::{Read, Reader, Value, variable};

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Argument {
    /// In the shell's words.
    pub(super) text: String,
    /// As it is written, where nothing in it is only known when it runs.
    pub(super) literal: Option<String>,
    /// It is a block, whose commands are on the lines before.
    pub(super) is_block: bool,
    /// It means arguments that are only known when it runs: `@arguments`.
    pub(super) is_splatted: bool,
    /// It is in no quotes.
    bare: bool,
}

impl Argument {
    /// A word of which nothing is read yet.
    pub(super) fn empty() -> Self {
        Self { literal: Some(String::new()), bare: true, ..Self::default() }
    }

    pub(super) fn fixed(text: &str) -> Self {
        Self { text: fixed(text), literal: Some(text.to_owned()), bare: true, ..Self::default() }
    }

    /// `-Recurse`
    pub(super) fn is_parameter(&self) -> bool {
        let name = self.literal.as_deref().and_then(|text| text.strip_prefix('-'));
        self.bare && name.is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic()))
    }
}

/// A text as one word of the shell; paths in the shell's way.
pub(super) fn fixed(text: &str) -> String {
    quoted(&path(text))
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@+%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// `D:\shop\src` as `/mnt/d/shop/src`, where Linux has it; `src\a.rs` as `src/a.rs`.
fn path(text: &str) -> String {
    let mut chars = text.chars();
    let drive = match (chars.next(), chars.next(), chars.next()) {
        (Some(drive), Some(':'), None | Some('\\' | '/')) if drive.is_ascii_alphabetic() => {
            Some(drive)
        }
        _ => None,
    };
    if let Some(drive) = drive {
        let rest = text.get(2..).unwrap_or_default().replace('\\', "/");
        return format!("/mnt/{}{rest}", drive.to_ascii_lowercase());
    }
    let pattern = |c: char| c.is_whitespace() || "'\"`()|^$+{}[]".contains(c);
    if text.contains('\\') && !text.contains(pattern) {
        return text.replace('\\', "/");
    }
    text.to_owned()
}

impl Reader {
    /// The next word; `None` where none begins.
    pub(super) fn argument(&mut self) -> Read<Option<Argument>> {
        let mut found = Argument::empty();
        let mut run = String::new();
        let mut any = false;
        while let Some(c) = self.peek() {
            if c.is_whitespace() || ";|)},&<>".contains(c) || any && matches!(c, '(' | '{') {
                break;
            }
            any = true;
            if !matches!(c, '\'' | '"' | '$' | '(' | '@' | '{' | '`') {
                self.at += 1;
                run.push(c);
                continue;
            }
            if c == '`' {
                self.at += 1;
                run.extend(self.peek());
                self.at += 1;
                continue;
            }
            found.flush(&mut run);
            self.part(&mut found)?;
        }
        found.flush(&mut run);
        Ok(any.then_some(found))
    }

    /// A quoted text, a variable, a group or a block of a word.
    pub(super) fn part(&mut self, found: &mut Argument) -> Read<()> {
        match (self.peek(), self.peek_at(1)) {
            (Some('\''), _) => {
                let text = self.single()?;
                found.bare = false;
                found.add_fixed(&text);
            }
            (Some('"'), _) => {
                found.bare = false;
                self.double(found)?;
            }
            (Some('@'), Some('\'' | '"')) => {
                found.bare = false;
                self.here(found)?;
            }
            (Some('{'), _) => {
                self.block()?;
                found.is_block = found.text.is_empty();
                found.text.push_str("'{block}'");
                found.literal = None;
            }
            (Some('@'), Some('(' | '{')) if found.text.is_empty() => {
                let value = self.primary()?;
                found.add_value(value);
            }
            (Some('(' | '$'), _) => {
                let value = self.primary()?;
                found.add_value(value);
            }
            // `@arguments`
            (Some('@'), Some(c)) if c.is_alphabetic() => {
                self.at += 1;
                self.name();
                found.is_splatted = true;
                found.add_value(Value::Unknown);
            }
            _ => {
                found.add_fixed("@");
                self.at += 1;
            }
        }
        Ok(())
    }

    /// `'it''s'`
    fn single(&mut self) -> Read<String> {
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\'' && !self.takes("'") {
                return Ok(text);
            }
            text.push(c);
        }
        Err(self.syntax("a string is not closed"))
    }

    /// `"$folder\a"`
    fn double(&mut self, found: &mut Argument) -> Read<()> {
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek() {
            match (c, self.peek_at(1)) {
                ('"', Some('"')) => {
                    text.push('"');
                    self.at += 2;
                }
                ('"', _) => {
                    self.at += 1;
                    found.add_fixed(&text);
                    return Ok(());
                }
                ('`', Some(escaped)) => {
                    text.push(unescaped(escaped));
                    self.at += 2;
                }
                ('$', _) => self.inserted(&mut text, found)?,
                _ => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        Err(self.syntax("a string is not closed"))
    }

    /// What a `$` means in a text.
    fn inserted(&mut self, text: &mut String, found: &mut Argument) -> Read<()> {
        let named = |c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '(' | '?' | '$' | '^');
        if !self.peek_at(1).is_some_and(named) {
            text.push('$');
            self.at += 1;
            return Ok(());
        }
        if !text.is_empty() {
            found.add_fixed(&std::mem::take(text));
        }
        self.at += 1;
        let value = if self.takes("(") { self.group(')')? } else { self.variable_value()? };
        found.add_value(value);
        Ok(())
    }

    /// `@'…'@`, over lines.
    fn here(&mut self, found: &mut Argument) -> Read<()> {
        let quote = self.peek_at(1).unwrap_or('\'');
        self.at += 2;
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
        self.at += 1;
        let end = format!("\n{quote}@");
        let mut text = String::new();
        // A text without lines ends where it begins.
        if self.takes(&format!("{quote}@")) {
            found.add_fixed("");
            return Ok(());
        }
        while self.peek().is_some() {
            if self.takes(&end) {
                found.add_fixed(&text);
                return Ok(());
            }
            match (self.peek(), self.peek_at(1)) {
                (Some('`'), Some(escaped)) if quote == '"' => {
                    text.push(unescaped(escaped));
                    self.at += 2;
                }
                (Some('$'), _) if quote == '"' => self.inserted(&mut text, found)?,
                (Some(c), _) => {
                    text.push(c);
                    self.at += 1;
                }
                (None, _) => {}
            }
        }
        Err(self.syntax("a here-string is not closed"))
    }

    /// A variable, whose `$` is read.
    pub(super) fn variable_value(&mut self) -> Read<Value> {
        let name = match self.peek() {
            Some('{') => {
                self.at += 1;
                let rest = self.text.iter().skip(self.at);
                let name: String = rest.take_while(|c| **c != '}').collect();
                self.at += name.chars().count() + 1;
                name
            }
            Some('?' | '$' | '^') => {
                self.at += 1;
                return Ok(Value::Unknown);
            }
            _ => {
                let mut name = String::new();
                while let Some(c) = self.peek() {
                    let scope = c == ':' && self.peek_at(1).is_some_and(char::is_alphanumeric);
                    if !(c.is_alphanumeric() || c == '_' || scope && !name.contains(':')) {
                        break;
                    }
                    name.push(c);
                    self.at += 1;
                }
                name
            }
        };
        Ok(of_variable(&name))
    }
}

fn of_variable(name: &str) -> Value {
    let lower = name.to_lowercase();
    let text = match lower.as_str() {
        "env:temp" | "env:tmp" | "env:tmpdir" => "/tmp".to_owned(),
        "env:userprofile" | "env:home" | "home" => "\"$HOME\"".to_owned(),
        "pwd" | "psscriptroot" => "\"$PWD\"".to_owned(),
        "null" | "true" | "false" => "''".to_owned(),
        _ => match lower.strip_prefix("env:") {
            Some(_) => format!("\"${}\"", name.get(4..).unwrap_or_default()),
            None => format!("\"${}\"", variable(name)),
        },
    };
    Value::Text(text)
}

fn unescaped(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        other => other,
    }
}

impl Argument {
    /// Adds letters that are in no quotes.
    fn flush(&mut self, run: &mut String) {
        let text = std::mem::take(run);
        if text.is_empty() {
            return;
        }
        if let Some(literal) = &mut self.literal {
            literal.push_str(&text);
        }
        let home = text.strip_prefix('~').filter(|rest| {
            self.text.is_empty() && (rest.is_empty() || rest.starts_with(['/', '\\']))
        });
        if let Some(rest) = home {
            self.text.push('~');
            if let Some(rest) = rest.get(1..) {
                self.text.push('/');
                self.flush_run(rest);
            }
            return;
        }
        self.flush_run(&text);
    }

    /// Letters in no quotes, with their wildcards.
    fn flush_run(&mut self, text: &str) {
        let text = path(text);
        let mut pieces = text.split_inclusive(['*', '?']);
        for piece in &mut pieces {
            let (letters, glob) = match piece.strip_suffix(['*', '?']) {
                Some(letters) => (letters, piece.get(letters.len()..).unwrap_or_default()),
                None => (piece, ""),
            };
            if !letters.is_empty() {
                self.text.push_str(&quoted(letters));
            }
            self.text.push_str(glob);
        }
    }

    fn add_fixed(&mut self, text: &str) {
        if let Some(literal) = &mut self.literal {
            literal.push_str(text);
        }
        if !text.is_empty() || self.text.is_empty() {
            self.text.push_str(&fixed(text));
        }
    }

    fn add_value(&mut self, value: Value) {
        self.literal = None;
        self.text.push_str(&value.word());
    }
}
