//! Expressions: values, operators, and the commands in them.

use super::reader::{Read, Reader, Value, variable};
use super::stage::method;
use super::word::Argument;

/// The target of an assignment is not longer, in characters.
const LONGEST_TARGET: usize = 500;

impl Reader {
    /// An expression up to the end of its statement, with what it assigns.
    pub(super) fn expression(&mut self) -> Read<Value> {
        let assigned = self.assigned();
        let mut values = Vec::new();
        let mut redirects = Vec::new();
        let (mut simple, mut ends) = (true, false);
        loop {
            self.skip_blanks();
            match self.peek() {
                // `1 { … } default { … }`
                Some(c) if ends && c.is_alphabetic() => break,
                None | Some('\n' | ';' | '|' | ')' | '}' | ']' | '&') => break,
                Some('=') => {
                    self.at += 1;
                    self.skip_lines();
                    let value = self.pipeline()?;
                    self.assign(assigned, values, value);
                    return Ok(Value::Unknown);
                }
                Some('>') => redirects.extend(self.redirect()?),
                Some(',') => {
                    self.at += 1;
                    self.skip_lines();
                }
                next => {
                    ends = next == Some('{');
                    simple &= self.operand(&mut values)?;
                }
            }
        }
        let value = self.joined(values, simple);
        if redirects.is_empty() {
            return Ok(value);
        }
        Ok(Value::Commands(format!("echo {} {}", value.word(), redirects.join(" "))))
    }

    /// Reads a value, or an operator, by which nothing is known of the values around it.
    fn operand(&mut self, values: &mut Vec<Value>) -> Read<bool> {
        match self.peek() {
            Some('$' | '"' | '\'' | '(' | '@' | '[' | '{') => values.push(self.primary()?),
            Some('0'..='9') => values.push(Value::Text(self.name())),
            Some('-' | '+' | '*' | '/' | '%' | '!' | '.' | ':' | '?') => {
                self.operator();
                return Ok(false);
            }
            _ => return Err(self.syntax("an expression cannot be read")),
        }
        Ok(true)
    }

    /// One value, or several that follow one another; what operators make of them is not known.
    fn joined(&mut self, mut values: Vec<Value>, simple: bool) -> Value {
        if simple && values.len() == 1 {
            return values.pop().unwrap_or(Value::Unknown);
        }
        let known = |value: &Value| matches!(value, Value::Text(_));
        if simple && !values.is_empty() && values.iter().all(known) {
            let words: Vec<String> = values.into_iter().map(Value::word).collect();
            return Value::Text(words.join(" "));
        }
        values.into_iter().for_each(|value| self.discard(value));
        Value::Unknown
    }

    /// Keeps what runs of a value that nothing uses.
    pub(super) fn discard(&mut self, value: Value) {
        if matches!(value, Value::Commands(_)) {
            self.emit(value);
        }
    }

    /// `-replace`, `+`, `..`; after it the expression may go on in the next line.
    fn operator(&mut self) {
        let sign = self.peek();
        self.at += 1;
        if sign == Some('-') {
            self.name();
        }
        self.skip_lines();
    }

    /// The variable that a statement gives a value, and does nothing else with: `[string]$name = …`.
    fn assigned(&self) -> Option<String> {
        let mut rest = self.text.iter().copied().skip(self.at).take(LONGEST_TARGET).peekable();
        while rest.peek() == Some(&'[') {
            rest.by_ref().find(|c| *c == ']')?;
        }
        if rest.next() != Some('$') {
            return None;
        }
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | ':')) {
            name.push(c);
        }
        let sign = rest.find(|c| !matches!(c, ' ' | '\t'));
        (sign == Some('=') && !name.is_empty()).then_some(name)
    }

    /// Gives a variable its value. Of others that are changed, nothing is known from then on.
    fn assign(&mut self, name: Option<String>, changed: Vec<Value>, value: Value) {
        let Some(name) = name else {
            for value in changed {
                match &value {
                    Value::Text(text) if text.starts_with("\"$") => {
                        let name = text.trim_matches(['"', '$']);
                        self.lines.push(format!("read {}", variable(name)));
                    }
                    _ => self.discard(value),
                }
            }
            return self.discard(value);
        };
        let word = match value {
            // Of a list, the shell's variable knows nothing.
            Value::Text(text) if is_list(&text) => Value::Unknown.word(),
            other => other.word(),
        };
        if name.to_lowercase().starts_with("env:") {
            let name = name.get(4..).unwrap_or_default();
            self.lines.push(format!("export {name}={word}"));
            return;
        }
        let name = match variable(&name).as_str() {
            "unknown" => "unused".to_owned(),
            name => name.to_owned(),
        };
        self.lines.push(format!("{name}={word}"));
    }

    /// A value with its members: `$a.b[0].c()`, `[File]::Delete('x')`.
    pub(super) fn primary(&mut self) -> Read<Value> {
        let mut class = None;
        let mut value = match (self.peek(), self.peek_at(1)) {
            (Some('['), _) => {
                class = Some(self.class()?);
                self.skip_blanks();
                match self.peek() {
                    _ if self.begins("::") || self.begins(".") => Value::Unknown,
                    // `[string]$a`
                    Some('$' | '"' | '\'' | '(' | '@' | '[' | '{') => {
                        return self.nested(Self::primary);
                    }
                    _ => return Ok(Value::Unknown),
                }
            }
            (Some('$' | '@'), Some('(')) => {
                self.at += 2;
                self.group(')')?
            }
            (Some('@'), Some('{')) => {
                self.at += 2;
                self.table()?;
                Value::Unknown
            }
            (Some('('), _) => {
                self.at += 1;
                self.group(')')?
            }
            (Some('{'), _) => {
                self.block()?;
                Value::Unknown
            }
            (Some('$'), _) => {
                self.at += 1;
                self.variable_value()?
            }
            _ => {
                let mut text = Argument::empty();
                self.part(&mut text)?;
                Value::Text(text.text)
            }
        };
        while let Some(next) = self.member(class.take().as_deref())? {
            self.discard(std::mem::replace(&mut value, next));
        }
        Ok(value)
    }

    /// A member of the value before, or an element of it.
    fn member(&mut self, class: Option<&str>) -> Read<Option<Value>> {
        if self.takes("[") {
            let index = self.group(']')?;
            self.discard(index);
            return Ok(Some(Value::Unknown));
        }
        let begins = |c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '\'' | '"' | '(');
        let signs = ["::", "?.", "."];
        let sign = signs.into_iter().find(|sign| self.begins(sign)).map_or(0, str::len);
        if sign == 0 || !self.peek_at(sign).is_some_and(begins) {
            return Ok(None);
        }
        self.at += sign;
        let rest = self.text.iter().skip(self.at);
        let name: String = rest.take_while(|c| c.is_alphanumeric() || **c == '_').collect();
        if name.is_empty() {
            return Err(self.syntax("a member name is only known at run time"));
        }
        self.at += name.chars().count();
        if !self.takes("(") {
            return Ok(Some(Value::Unknown));
        }
        let arguments = self.arguments()?;
        Ok(Some(method(self, class, &name, arguments)))
    }

    /// The arguments of a method, whose bracket is read.
    fn arguments(&mut self) -> Read<Vec<Value>> {
        let mut found = Vec::new();
        loop {
            self.skip_lines();
            if self.takes(")") {
                return Ok(found);
            }
            if self.takes(",") {
                continue;
            }
            let (mut values, mut simple) = (Vec::new(), true);
            loop {
                self.skip_lines();
                match self.peek() {
                    Some(',' | ')') => break,
                    _ => simple &= self.operand(&mut values)?,
                }
            }
            let value = self.joined(values, simple);
            found.push(value);
        }
    }

    /// `[System.IO.File]`, and attributes.
    fn class(&mut self) -> Read<String> {
        let mut depth = 0_usize;
        let mut name = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                '{' | '$' | '`' => return Err(self.syntax("an attribute contains code")),
                _ => {}
            }
            if depth == 0 {
                return Ok(name);
            }
            if !(depth == 1 && c == '[') {
                name.push(c);
            }
        }
        Err(self.syntax("a bracket is not closed"))
    }

    /// `@{ name = value; … }`, whose beginning is read.
    fn table(&mut self) -> Read<()> {
        loop {
            self.skip_lines();
            while self.takes(";") {
                self.skip_lines();
            }
            if self.takes("}") {
                return Ok(());
            }
            let value = match self.peek() {
                Some('$' | '"' | '\'' | '(' | '[') => self.primary()?,
                _ if self.name().is_empty() => {
                    return Err(self.syntax("a hash table cannot be read"));
                }
                _ => Value::Unknown,
            };
            self.discard(value);
            self.skip_blanks();
            if !self.takes("=") {
                return Err(self.syntax("a hash table entry has no `=`"));
            }
            self.skip_lines();
            let value = self.pipeline()?;
            self.discard(value);
        }
    }
}

/// Whether words are more than one.
fn is_list(text: &str) -> bool {
    let mut quote = None;
    text.chars().any(|c| {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        quote.is_none() && c == ' '
    })
}
