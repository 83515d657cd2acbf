//! Statements, blocks and pipelines.

use super::names::Names;
use crate::NotAnalysable;

/// Constructs inside one another; brackets and blocks count several times.
const DEEPEST: usize = 150;

pub(super) type Read<T> = Result<T, NotAnalysable>;

/// What a part of a script gives to what is around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A word of the shell, or several.
    Text(String),
    /// What these commands print.
    Commands(String),
    /// Something that is only known when it runs.
    Unknown,
}

impl Value {
    /// It as a word of the shell.
    pub(super) fn word(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Commands(commands) => format!("\"$({commands})\""),
            Self::Unknown => "\"$unknown\"".to_owned(),
        }
    }
}

pub(super) struct Reader {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    /// The commands so far, in the shell's words.
    pub(super) lines: Vec<String>,
    pub(super) names: &'static Names,
}

impl Reader {
    pub(super) fn new(text: &str, depth: usize) -> Self {
        let text = text.chars().filter(|c| *c != '\r').map(plain).collect();
        Self { text, at: 0, depth, lines: Vec::new(), names: Names::own() }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn takes(&mut self, text: &str) -> bool {
        let found = self.begins(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    pub(super) fn begins(&self, text: &str) -> bool {
        let mut rest = self.text.iter().skip(self.at);
        text.chars().all(|c| rest.next() == Some(&c))
    }

    pub(super) fn syntax(&self, reason: &str) -> NotAnalysable {
        NotAnalysable::Syntax {
            reason: format!("{reason} at character {} of the PowerShell script", self.at),
        }
    }

    /// Reads what another script holds, at the end of this one's commands.
    pub(super) fn script(&mut self, text: &str) -> Read<()> {
        self.nested(|reader| {
            let mut inner = Self::new(text, reader.depth);
            inner.statements(None)?;
            reader.lines.append(&mut inner.lines);
            Ok(())
        })
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            return Err(NotAnalysable::TooDeep);
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Blanks, comments and lines that are continued.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match (self.peek(), self.peek_at(1)) {
                (Some(c), _) if c.is_whitespace() && c != '\n' => self.at += 1,
                (Some('`'), Some('\n')) => self.at += 2,
                (Some('#'), _) => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                (Some('<'), Some('#')) => {
                    while self.peek().is_some() && !self.takes("#>") {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    pub(super) fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.peek() == Some('\n') {
            self.at += 1;
            self.skip_blanks();
        }
    }

    fn skip_separators(&mut self) {
        self.skip_lines();
        while matches!(self.peek(), Some(';')) || self.begins("&&") || self.begins("||") {
            self.at += if self.peek() == Some(';') { 1 } else { 2 };
            self.skip_lines();
        }
    }

    /// Statements up to what closes them, or to the end of the text.
    pub(super) fn statements(&mut self, close: Option<char>) -> Read<()> {
        self.nested(|reader| {
            loop {
                reader.skip_separators();
                match reader.peek() {
                    None if close.is_none() => return Ok(()),
                    None => return Err(reader.syntax("a bracket is not closed")),
                    next if next == close => {
                        reader.at += 1;
                        return Ok(());
                    }
                    Some(')' | '}' | ']') => {
                        return Err(reader.syntax("a closing bracket has no opening bracket"));
                    }
                    Some(_) => reader.statement()?,
                }
            }
        })
    }

    fn statement(&mut self) -> Read<()> {
        if self.keyword()? {
            return Ok(());
        }
        let value = self.pipeline()?;
        self.emit(value);
        Ok(())
    }

    /// A line of its own, for what is not used.
    pub(super) fn emit(&mut self, value: Value) {
        match value {
            Value::Commands(commands) => self.lines.push(commands),
            Value::Text(text) => self.lines.push(format!("echo {text}")),
            Value::Unknown => {}
        }
    }

    /// A word of the language with what belongs to it.
    fn keyword(&mut self) -> Read<bool> {
        let start = self.at;
        let word = self.name();
        self.skip_blanks();
        let opens = self.peek();
        match (word.as_str(), opens) {
            ("if" | "elseif" | "while" | "until" | "switch" | "for", _) => self.condition()?,
            ("foreach", Some('(')) => self.each()?,
            ("else" | "try" | "finally" | "do" | "begin" | "process" | "end", _) => {
                self.skip_lines();
                self.block()?;
            }
            ("catch" | "trap", _) => {
                while self.peek() != Some('{') && self.peek().is_some() {
                    self.at += 1;
                }
                self.block()?;
            }
            ("function" | "filter", Some(_)) => {
                self.name();
                self.skip_lines();
                if self.takes("(") {
                    self.group(')')?;
                }
                self.skip_lines();
                self.block()?;
            }
            ("param", Some('(')) => {
                self.at += 1;
                self.group(')')?;
            }
            ("return" | "throw" | "exit" | "break" | "continue", _) => {}
            ("class" | "enum" | "workflow" | "configuration" | "using", Some(c)) if c != '=' => {
                return Err(NotAnalysable::Uncertain { what: "a PowerShell definition" });
            }
            _ => {
                self.at = start;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Letters, digits and what else a name may hold, in lower case.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || "_-:".contains(*c)) {
            name.extend(c.to_lowercase());
            self.at += 1;
        }
        name
    }

    /// `(…) {…}`
    fn condition(&mut self) -> Read<()> {
        while self.peek() == Some('-') {
            self.at += 1;
            self.name();
            self.skip_blanks();
        }
        if !self.takes("(") {
            return Err(self.syntax("a condition is missing"));
        }
        let value = self.group(')')?;
        self.emit(value);
        self.skip_lines();
        if self.peek() == Some('{') { self.block() } else { Ok(()) }
    }

    /// `($name in …) {…}`
    fn each(&mut self) -> Read<()> {
        self.at += 1;
        self.skip_lines();
        if !self.takes("$") {
            return Err(self.syntax("a loop has no variable"));
        }
        let name = self.name();
        self.skip_lines();
        if self.name() != "in" {
            return Err(self.syntax("a loop has no `in`"));
        }
        self.lines.push(format!("read {}", variable(&name)));
        let value = self.group(')')?;
        self.emit(value);
        self.skip_lines();
        self.block()
    }

    /// The statements between braces.
    pub(super) fn block(&mut self) -> Read<()> {
        match self.takes("{") {
            true => self.statements(Some('}')),
            false => Err(self.syntax("a block is missing")),
        }
    }

    /// The contents of brackets, of which the first is read: what one pipeline gives, or something
    /// unknown.
    pub(super) fn group(&mut self, close: char) -> Read<Value> {
        self.nested(|reader| {
            reader.skip_separators();
            if reader.peek() == Some(close) {
                reader.at += 1;
                return Ok(Value::Text(String::new()));
            }
            if !reader.keyword()? {
                let value = reader.pipeline()?;
                reader.skip_separators();
                if reader.peek() == Some(close) {
                    reader.at += 1;
                    return Ok(value);
                }
                reader.emit(value);
            }
            reader.statements(Some(close))?;
            Ok(Value::Unknown)
        })
    }

    /// Commands and expressions that are joined by `|`.
    pub(super) fn pipeline(&mut self) -> Read<Value> {
        self.nested(Self::joined_stages)
    }

    fn joined_stages(&mut self) -> Read<Value> {
        let mut stages: Vec<String> = Vec::new();
        let mut value = self.element(false)?;
        loop {
            self.skip_blanks();
            if self.peek() != Some('|') || self.peek_at(1) == Some('|') {
                break;
            }
            self.at += 1;
            self.skip_lines();
            stages.push(match value {
                Value::Commands(commands) => commands,
                other => format!("echo {}", other.word()),
            });
            value = self.element(true)?;
        }
        if self.peek() == Some('&') && self.peek_at(1) != Some('&') {
            self.at += 1;
        }
        if stages.is_empty() {
            return Ok(value);
        }
        if let Value::Commands(last) = value {
            stages.push(last);
        }
        Ok(Value::Commands(stages.join(" | ")))
    }

    /// One command or expression; `piped` is after a `|`.
    fn element(&mut self, piped: bool) -> Read<Value> {
        let called = matches!(
            (self.peek(), self.peek_at(1)),
            (Some('&' | '.'), Some(' ' | '"' | '\'' | '$' | '(' | '{'))
        );
        if called {
            self.at += 1;
            self.skip_blanks();
            return self.command(piped);
        }
        match self.peek() {
            Some('$' | '"' | '\'' | '(' | '@' | '[' | '{' | '-' | '!' | ',' | '+') => {
                self.expression()
            }
            Some(c) if c.is_ascii_digit() && self.is_number() => self.expression(),
            Some(c) if !"<>|&;)}".contains(c) => self.command(piped),
            _ => Err(self.syntax("a command is missing")),
        }
    }

    fn is_number(&self) -> bool {
        let rest = self.text.iter().skip(self.at);
        let mut word = rest.take_while(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
        word.all(|c| c.is_ascii_digit() || *c == '.')
    }

    /// `> file`, `2>&1`, `*> $null`
    pub(super) fn redirect(&mut self) -> Read<Option<String>> {
        let stream = self.peek().filter(|c| c.is_ascii_digit() || *c == '*');
        let ahead = usize::from(stream.is_some());
        if self.peek_at(ahead) != Some('>') {
            return match self.peek() {
                Some('<') => Err(self.syntax("`<` is reserved")),
                _ => Ok(None),
            };
        }
        self.at += ahead + 1;
        let append = if self.takes(">") { ">>" } else { ">" };
        if self.takes("&1") {
            return Ok(Some("2>&1".to_owned()));
        }
        self.skip_blanks();
        let Some(target) = self.argument()? else {
            return Err(self.syntax("a redirect has no target"));
        };
        let target = if target.text == "''" { "/dev/null".to_owned() } else { target.text };
        let stream = match stream {
            Some('*') => "&".to_owned(),
            Some('2') => "2".to_owned(),
            _ => String::new(),
        };
        Ok(Some(format!("{stream}{append} {target}")))
    }
}

/// The character that PowerShell takes another one for: dashes and quotation marks of typesetting.
fn plain(c: char) -> char {
    match c {
        '\u{2013}'..='\u{2015}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201e}' => '"',
        other => other,
    }
}

/// The shell's name of a variable; `unknown` is never one of the script's.
pub(super) fn variable(name: &str) -> String {
    let name = name.rsplit(':').next().unwrap_or(name);
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    match name.as_str() {
        "" | "_" | "psitem" | "args" | "input" | "matches" | "unknown" => "unknown".to_owned(),
        name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("v{name}"),
        _ => name,
    }
}
