//! Simple commands, functions and coprocesses.

use super::cursor::{Cursor, KEYWORDS, Parsed, ends_word};
use super::words::{Draft, Mode, is_name};
use crate::script::command::{Assignment, Word, WordKind};
use crate::script::limits::NotAnalysable;
use crate::script::tree::{Found, Function, Node, Parts};

/// Built-ins whose arguments may be array assignments.
const DECLARATIONS: [&str; 8] =
    ["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

impl Cursor<'_> {
    pub(super) fn simple_command(&mut self) -> Parsed<Node> {
        let mut parts = Parts::default();
        let mut mode = Mode::Plain;
        loop {
            let prefix = parts.name.is_none();
            if self.redirect(&mut parts)? || (prefix && self.assignment(&mut parts)?) {
                continue;
            }
            let start = self.at;
            let Some(draft) = self.word(mode)? else { break };
            self.check_joined_descriptor(start, &draft)?;
            if !prefix {
                parts.args.push(draft.finish(&mut parts.found));
                continue;
            }
            self.check_joined_name(start, &draft)?;
            let quoted = draft.quoted;
            let name = draft.finish(&mut parts.found);
            self.skip_blanks();
            if self.peek() == Some(b'(') {
                let alone = parts.assignments.is_empty() && parts.redirects.is_empty();
                if quoted || !alone {
                    return Err(self.unexpected());
                }
                return self.function_of(&name);
            }
            if name.literal().is_some_and(|name| DECLARATIONS.contains(&name)) {
                mode = Mode::Declaration;
            }
            parts.name = Some(name);
        }
        if parts.is_empty() { Err(self.unexpected()) } else { Ok(Node::Simple(parts)) }
    }

    /// Refuses a keyword or assigned name that is split by a line continuation, which would not be
    /// recognised.
    fn check_joined_name(&self, start: usize, draft: &Draft) -> Parsed<()> {
        let joined = self.slice(start, self.at)?.trim_end_matches("\\\n").contains("\\\n");
        let name = draft.text.split(['=', '+', '[']).next().unwrap_or_default();
        let assigns = is_name(name) && name.len() < draft.text.len();
        if joined && (assigns || KEYWORDS.contains(&draft.text.as_str())) {
            return Err(NotAnalysable::Uncertain {
                what: "a keyword or a name split over two lines",
            });
        }
        Ok(())
    }

    /// Refuses a descriptor before `<` or `>` that is split by a line continuation.
    fn check_joined_descriptor(&self, start: usize, draft: &Draft) -> Parsed<()> {
        let joined = matches!(self.byte(self.at), Some(b'<' | b'>'))
            && self.slice(start, self.at)?.contains("\\\n");
        if joined && draft.text.ends_with(|c: char| c.is_ascii_digit() || c == '}') {
            return Err(NotAnalysable::Uncertain { what: "a redirect split over two lines" });
        }
        Ok(())
    }

    /// Parses `name=value`, `name+=value` or `name[…]=value`, if one begins here.
    fn assignment(&mut self, parts: &mut Parts) -> Parsed<bool> {
        self.skip_blanks();
        let start = self.at;
        let mut end = start;
        while self.byte(end).is_some_and(|b| b == b'_' || b.is_ascii_alphanumeric()) {
            end += 1;
        }
        if !is_name(self.slice(start, end)?) {
            return Ok(false);
        }
        let mut subscript = Draft::default();
        if self.byte(end) == Some(b'[') {
            self.at = end;
            self.subscript(&mut subscript)?;
            end = self.at;
        }
        let name = self.slice(start, end)?;
        let append = self.byte(end) == Some(b'+') && self.byte(end + 1) == Some(b'=');
        let assigns = append || self.byte(end) == Some(b'=');
        let odd = name.bytes().any(ends_word) && !(assigns && parts.redirects.is_empty());
        if odd {
            return Err(NotAnalysable::Uncertain { what: "an unusual subscript" });
        }
        if !assigns {
            if self.at > start {
                self.retry_from(start)?;
            }
            return Ok(false);
        }
        self.at = end + if append { 2 } else { 1 };
        subscript.finish(&mut parts.found);
        let value = if self.peek() == Some(b'(') {
            let (values, found) = self.array()?;
            parts.found.append(found);
            values
        } else {
            self.word_here(Mode::Plain)?.unwrap_or_default().finish(&mut parts.found)
        };
        parts.assignments.push(Assignment { name: name.to_owned(), value, append });
        Ok(true)
    }

    /// Parses the `(…)` of an array; its values are joined by a space.
    pub(super) fn array(&mut self) -> Parsed<(Word, Found)> {
        self.nested(|parser| {
            parser.expect("(")?;
            let mut values = Word::fixed("");
            let mut found = Found::default();
            loop {
                parser.skip_newlines()?;
                if parser.peek() == Some(b')') {
                    parser.at += 1;
                    return Ok((values, found));
                }
                let value = parser.element(&mut found)?;
                if !values.text.is_empty() {
                    values.text.push(' ');
                }
                values.text.push_str(&value.text);
                if value.kind != WordKind::Literal {
                    values.kind = value.kind;
                }
            }
        })
    }

    /// Parses `value` or `[…]=value`.
    fn element(&mut self, found: &mut Found) -> Parsed<Word> {
        let start = self.at;
        if self.peek() == Some(b'[') {
            let mut key = Draft::default();
            self.subscript(&mut key)?;
            if self.takes("=") || self.takes("+=") {
                key.finish(found);
                return Ok(self.word_here(Mode::Plain)?.unwrap_or_default().finish(found));
            }
            if self.slice(start, self.at)?.bytes().any(ends_word) {
                return Err(NotAnalysable::Uncertain { what: "an unusual subscript" });
            }
            self.retry_from(start)?;
        }
        let value = self.word_here(Mode::Plain)?.ok_or_else(|| self.unexpected())?;
        Ok(value.finish(found))
    }

    /// Parses `()` and the body of a function, after its name.
    fn function_of(&mut self, name: &Word) -> Parsed<Node> {
        self.expect("(")?;
        self.skip_blanks();
        self.expect(")")?;
        self.function_body(name)
    }

    /// Parses a function definition with the keyword `function`.
    pub(super) fn function(&mut self) -> Parsed<Node> {
        self.expect_keyword("function")?;
        let start = self.at;
        let draft = self.word(Mode::Plain)?.ok_or_else(|| self.unexpected())?;
        if draft.quoted || self.slice(start, self.at)?.contains(['$', '`', '(']) {
            return Err(NotAnalysable::Uncertain { what: "an unusual function name" });
        }
        let name = draft.finish(&mut Found::default());
        self.skip_blanks();
        if self.takes("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.function_body(&name)
    }

    fn function_body(&mut self, name: &Word) -> Parsed<Node> {
        let name =
            name.literal().ok_or(NotAnalysable::Uncertain { what: "an unusual function name" })?;
        let name = name.to_owned();
        self.skip_newlines()?;
        let body = self.compound()?.ok_or_else(|| self.unexpected())?;
        let redirects = self.redirects()?;
        Ok(Node::Function(Function { name, body, redirects }))
    }

    /// Parses `coproc command` or `coproc NAME compound-command`.
    pub(super) fn coprocess(&mut self) -> Parsed<Node> {
        self.expect_keyword("coproc")?;
        let start = self.at;
        if !self.begins_compound() {
            let name = self.word(Mode::Plain)?;
            let named = name.is_some() && self.begins_compound();
            if named && !name.is_some_and(|name| is_name(&name.text)) {
                return Err(self.unexpected());
            }
            if !named {
                self.retry_from(start)?;
            }
        }
        if let Some(compound) = self.compound()? {
            let redirects = self.redirects()?;
            return Ok(Node::Coprocess(Box::new(Node::Compound(compound, redirects))));
        }
        if self.keyword().is_some() {
            return Err(self.unexpected());
        }
        let simple = self.simple_command()?;
        if !matches!(simple, Node::Simple(_)) {
            return Err(NotAnalysable::Uncertain { what: "a function as a coprocess" });
        }
        Ok(Node::Coprocess(Box::new(simple)))
    }
}
