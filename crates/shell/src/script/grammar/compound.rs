//! Compound commands.

use super::cursor::{Cursor, Parsed};
use super::words::{Draft, Mode, is_name};
use crate::script::command::{Assignment, Word, WordKind};
use crate::script::state::Dialect;
use crate::script::tree::{CaseItem, Compound, Found, List, Parts};

impl Cursor<'_> {
    pub(super) fn begins_compound(&mut self) -> bool {
        self.skip_blanks();
        self.peek() == Some(b'(')
            || matches!(
                self.keyword(),
                Some("{" | "[[" | "if" | "while" | "until" | "for" | "select" | "case")
            )
    }

    /// Parses a compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Parsed<Option<Compound>> {
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            return self.parentheses().map(Some);
        }
        let Some(keyword) = self.keyword() else { return Ok(None) };
        let start = self.at;
        self.expect_keyword(keyword)?;
        Ok(Some(match keyword {
            "{" => Compound::Group(self.commands_until("}")?),
            "[[" => Compound::Test(self.test()?),
            "if" => self.if_clause()?,
            "while" | "until" => {
                let condition = self.commands_until("do")?;
                let body = self.commands_until("done")?;
                Compound::Loop { until: keyword == "until", condition, body }
            }
            "for" | "select" => self.for_clause()?,
            "case" => self.case_clause()?,
            _ => {
                self.at = start;
                return Ok(None);
            }
        }))
    }

    fn commands_until(&mut self, keyword: &str) -> Parsed<List> {
        let list = self.commands()?;
        self.expect_keyword(keyword)?;
        Ok(list)
    }

    /// Parses `(…)` or `((…))`.
    fn parentheses(&mut self) -> Parsed<Compound> {
        let mut draft = Draft::default();
        let may_count = self.dialect == Dialect::Bash && self.sees("((");
        if may_count && self.arithmetic(&mut draft)? {
            return Ok(Compound::Arithmetic(draft.found));
        }
        self.expect("(")?;
        let list = self.commands()?;
        self.expect(")")?;
        Ok(Compound::Subshell(list))
    }

    fn if_clause(&mut self) -> Parsed<Compound> {
        let mut branches = Vec::new();
        loop {
            let condition = self.commands_until("then")?;
            branches.push((condition, self.commands()?));
            if self.takes_keyword("elif") {
                continue;
            }
            let otherwise = if self.takes_keyword("else") { Some(self.commands()?) } else { None };
            self.expect_keyword("fi")?;
            return Ok(Compound::If { branches, otherwise });
        }
    }

    fn for_clause(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            let mut header = Draft::default();
            if self.arithmetic_parts(&mut header)? != Some(3) {
                return Err(self.unexpected());
            }
            self.skip_blanks();
            self.takes_semicolon();
            return Ok(Compound::ArithmeticFor { header: header.found, body: self.loop_body()? });
        }
        let name = self.word(Mode::Plain)?.filter(|draft| is_name(&draft.text) && !draft.quoted);
        let name = name.ok_or_else(|| self.unexpected())?.text;
        let mut values = Parts::default();
        let mut add = |value| {
            let name = name.clone();
            values.assignments.push(Assignment { name, value, append: false });
        };
        let mut found = Found::default();
        self.skip_blanks();
        if self.takes_semicolon() {
            add(Word { text: "$@".to_owned(), kind: WordKind::Dynamic });
        } else {
            self.skip_newlines()?;
            if self.takes_keyword("in") {
                while let Some(draft) = self.word(Mode::Plain)? {
                    add(draft.finish(&mut found));
                }
                if !self.takes_semicolon() && self.peek() != Some(b'\n') {
                    return Err(self.unexpected());
                }
            } else {
                add(Word { text: "$@".to_owned(), kind: WordKind::Dynamic });
            }
        }
        values.found = found;
        Ok(Compound::For { values, body: self.loop_body()? })
    }

    /// Parses `do … done`, or the old form `{ … }`.
    fn loop_body(&mut self) -> Parsed<List> {
        self.skip_newlines()?;
        if self.takes_keyword("{") {
            return self.commands_until("}");
        }
        self.expect_keyword("do")?;
        self.commands_until("done")
    }

    fn case_clause(&mut self) -> Parsed<Compound> {
        let mut word = Found::default();
        self.word(Mode::Plain)?.ok_or_else(|| self.unexpected())?.finish(&mut word);
        self.skip_newlines()?;
        self.expect_keyword("in")?;
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.takes_keyword("esac") {
                return Ok(Compound::Case { word, items });
            }
            let patterns = self.patterns()?;
            let body = self.list()?;
            items.push(CaseItem { patterns, body });
            self.skip_blanks();
            if !self.takes(";;&") && !self.takes(";;") && !self.takes(";&") {
                self.expect_keyword("esac")?;
                return Ok(Compound::Case { word, items });
            }
        }
    }

    /// Parses `(a|b)` before the commands of a `case` item.
    fn patterns(&mut self) -> Parsed<Found> {
        let mut patterns = Found::default();
        self.takes("(");
        loop {
            let pattern = self.word(Mode::Plain)?.ok_or_else(|| self.unexpected())?;
            pattern.finish(&mut patterns);
            self.skip_blanks();
            if self.takes(")") {
                return Ok(patterns);
            }
            self.expect("|")?;
        }
    }
}
