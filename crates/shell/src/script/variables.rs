//! Variables that a script sets to one fixed value, so that their uses can be replaced.

use std::collections::BTreeMap;

use super::analysed::Script;
use super::command::{Assignment, Command, Redirect, Target, Word, WordKind};
use super::tree::Parts;

/// The variables of a script; `None` for those that may have another value.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Option<String>>);

impl Variables {
    /// The variables of a script with this text. Empty if something else may set them, or if words
    /// are split in an unusual way.
    pub(super) fn new(script: &Script, text: &str) -> Self {
        let mut variables = Self::default();
        for command in &script.commands {
            if matches!(command.program(), Some("source" | "." | "eval")) {
                return Self::default();
            }
            variables.add(command);
        }
        // `${NAME:=value}` sets the variable.
        let set_when_used =
            |name: &str| ["=", ":="].iter().any(|sign| text.contains(&format!("${{{name}{sign}")));
        variables.0.retain(|name, value| value.is_some() && !set_when_used(name));
        if text.contains("IFS") { Self::default() } else { variables }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, command: &Command) {
        for assignment in &command.assignments {
            let name = assignment.name.split('[').next().unwrap_or_default();
            self.assign(name, value_of(assignment));
        }
        match command.program() {
            Some("export" | "declare" | "typeset" | "local" | "readonly") => {
                for word in &command.args {
                    if let Some((name, value)) = word.text.split_once('=') {
                        let fixed = word.literal().map(|_| value).filter(|value| is_plain(value));
                        self.assign(name, fixed);
                    }
                }
            }
            Some("read" | "mapfile" | "readarray" | "getopts" | "unset" | "printf" | "let") => {
                for word in &command.args {
                    self.assign(&word.text, None);
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, name: &str, value: Option<&str>) {
        let value = value.map(str::to_owned);
        match self.0.get_mut(name) {
            Some(known) if *known != value => *known = None,
            Some(_) => {}
            None => drop(self.0.insert(name.to_owned(), value)),
        }
    }

    /// Replaces variables in words that become fully known.
    pub(super) fn resolve(&self, parts: &Parts) -> Parts {
        let redirects = parts.redirects.iter().map(|redirect| match &redirect.target {
            Target::File(word) => {
                Redirect { target: Target::File(self.word(word)), ..redirect.clone() }
            }
            _ => redirect.clone(),
        });
        Parts {
            name: parts.name.as_ref().map(|word| self.word(word)),
            args: parts.args.iter().map(|word| self.word(word)).collect(),
            assignments: parts.assignments.clone(),
            redirects: redirects.collect(),
            ..Parts::default()
        }
    }

    fn word(&self, word: &Word) -> Word {
        let replaced = || {
            let (before, after) =
                word.text.split_once('$').filter(|_| word.kind == WordKind::Dynamic)?;
            let (name, rest) = match after.strip_prefix('{') {
                Some(braced) => braced.split_once('}')?,
                None => after.split_at(after.find(|c| !is_of_a_name(c)).unwrap_or(after.len())),
            };
            // With a second expansion or a quoted dollar sign, it is unclear which one is meant.
            let value = self.0.get(name)?.as_ref().filter(|_| !rest.contains(['$', '`']))?;
            let plain = is_plain(before) && is_plain(rest);
            plain.then(|| Word::fixed(format!("{before}{value}{rest}")))
        };
        replaced().unwrap_or_else(|| word.clone())
    }
}

fn value_of(assignment: &Assignment) -> Option<&str> {
    let is_whole = !assignment.append && !assignment.name.contains('[');
    assignment.value.literal().filter(|value| is_whole && is_plain(value))
}

/// Whether an unquoted value stays one literal word.
fn is_plain(value: &str) -> bool {
    !value.contains(|c: char| c.is_whitespace() || matches!(c, '*' | '?' | '[' | '{' | '`' | '\\'))
}

fn is_of_a_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}
