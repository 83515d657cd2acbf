//! Code in arguments, here-documents or here-strings, or piped in from `echo`: what it destroys,
//! shows and runs, as far as it is given literally.

use counterfoil_shell::{Command, Destination, Direction, Script, Target, Word};

use super::calls::{argument, arguments, between, calls, has_phrase, is_home, literals};
use super::pattern::Line;
use super::secret;
use super::tables::{Language, Operands, Reads, Tables};
use crate::blocklist::text::of_powershell;

/// The code that a command passes to an interpreter, and its language.
pub(super) struct Code<'c> {
    language: &'static Language,
    texts: Vec<&'c str>,
    /// The command line. Database clients mix operands, options and input.
    line: &'c Line<'c>,
}

impl<'c> Code<'c> {
    /// The code passed to a command; `None` if its program takes no code.
    pub(super) fn parse(line: &'c Line<'c>) -> Option<Self> {
        let language = Tables::own().language(line.program)?;
        let mut texts = Vec::new();
        if !language.code.is_empty() {
            texts.extend(line.values(&language.code).map(|(_, value)| value));
        }
        let operands = line.command.args.iter().filter(|word| !word.text.starts_with('-'));
        let operands = operands.map(|word| word.text.as_str());
        match language.operands {
            Operands::None => {}
            Operands::First => texts.extend(operands.take(1)),
            Operands::All => texts.extend(operands),
        }
        if reads_input(line, language) {
            texts.extend(input(line.site.at, line.site.script));
        }
        Some(Self { language, texts, line })
    }

    /// Whether the code destroys something irreversibly.
    pub(super) fn destroys(&self) -> bool {
        let phrases = &Tables::own().phrases;
        self.texts.iter().any(|text| {
            self.deletes(text)
                || self.destroys_rows(text)
                || phrases
                    .keys()
                    .any(|phrase| has_phrase(&text.to_lowercase(), &phrase.to_lowercase()))
        })
    }

    /// A secret that the code shows or sends.
    pub(super) fn shows(&self) -> Option<&'c str> {
        let tables = Tables::own();
        let has = |text: &str, list: &str| {
            tables.words(list).iter().any(|word| text.contains(word.as_str()))
        };
        self.texts.iter().find_map(|text| {
            let kept = literals(text).find(|literal| {
                let file = secret::is_file_of_secrets(literal) && has(text, "code that sends");
                file || secret::is_place(literal) && has(text, "code that reads")
            });
            if kept.is_some() {
                return Some(*text);
            }
            let prints = self.line.option("-p|--print").is_some() && self.line.program == "node";
            prints_secret(text, prints).then_some(*text)
        })
    }

    /// The shell scripts that the code runs. Each with whether it is complete, or its missing parts
    /// come from outside.
    pub(super) fn runs(&self) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        let with = &self.language.runs_with;
        let may = |text: &&&str| with.is_empty() || with.iter().any(|w| text.contains(w.as_str()));
        if self.language.reads == Some(Reads::Powershell) {
            return self.texts.iter().map(|text| (of_powershell(text), true)).collect();
        }
        for text in self.texts.iter().filter(may) {
            for name in &self.language.runs {
                let delimited = name.starts_with(['%', 'q']);
                let known = |after| {
                    let found =
                        if delimited { between(after) } else { arguments(after, text).script() };
                    found.map(|(script, whole)| (script, whole || self.language.runs_computed))
                };
                found.extend(calls(text, name).filter_map(known));
            }
            for mark in &self.language.runs_line {
                let rest = text.split(mark.as_str()).skip(1).filter_map(|rest| rest.lines().next());
                found.extend(rest.map(|line| (line.trim().to_owned(), false)));
            }
            for mark in &self.language.runs_before {
                let before = text.match_indices(mark.as_str()).filter_map(|(at, _)| text.get(..at));
                let literal = before.filter_map(|before| {
                    before.trim_end().strip_suffix('"')?.rsplit_once('"').map(|(_, text)| text)
                });
                found.extend(literal.map(|script| (script.to_owned(), false)));
            }
            if self.language.backquotes {
                let quoted = text.split('`').skip(1).step_by(2);
                found.extend(quoted.map(|script| (script.to_owned(), false)));
            }
        }
        found
    }

    /// Whether the code deletes folders or files outside the project.
    fn deletes(&self, text: &str) -> bool {
        let Line { command, place, .. } = self.line;
        let has =
            |list: &str| Tables::own().words(list).iter().any(|mark| text.contains(mark.as_str()));
        let lost = |literal: &str| {
            let word = Word::fixed(literal);
            let directory = command.directory.as_deref();
            place.is_left(&word, directory) || place.loses(&word, directory)
        };
        let anywhere = || is_home(text) || literals(text).any(|text| text.len() > 3 && lost(text));
        let named = |names: &[String], far: bool| {
            names.iter().flat_map(|name| calls(text, name)).any(|after| {
                let argument = argument(after);
                let mut words = literals(argument).peekable();
                is_home(argument)
                    || match words.peek() {
                        Some(_) => words.any(lost),
                        None if far => anywhere(),
                        // Each file of a folder.
                        None => has("code that lists") && is_home(text),
                    }
            })
        };
        named(&self.language.deletes, true) || named(&self.language.removes, false)
    }

    /// Whether the code destroys data: `DROP TABLE`, `DELETE` without `WHERE`.
    fn destroys_rows(&self, text: &str) -> bool {
        if self.language.destroys.is_empty() || self.is_of_tests() {
            return false;
        }
        let text = text.to_lowercase();
        let text = without_comments(&text);
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = if self.language.quotes_values { without_values(&plain) } else { plain };
        let statements = || plain.split(';').map(str::trim);
        let unbound = |(begins, narrowed): (&String, &String)| {
            statements().any(|statement| {
                statement.contains(begins.as_str())
                    && !narrowed.split('|').any(|word| statement.contains(word))
            })
        };
        self.language.destroys.iter().any(|phrase| has_phrase(&plain, phrase))
            || self.language.narrowed.iter().any(unbound)
    }

    /// Whether the database is for tests, or only in memory.
    fn is_of_tests(&self) -> bool {
        self.line.holds("@test", 0)
            || self.line.command.args.iter().any(|word| word.text == ":memory:")
    }
}

/// A statement in which each `/* … */` is a blank, as a database reads it. What MySQL runs in one
/// (`/*! … */`) stays.
fn without_comments(statement: &str) -> String {
    let mut plain = String::new();
    let mut rest = statement;
    while let Some((before, comment)) = rest.split_once("/*") {
        let Some((inside, after)) = comment.split_once("*/") else { break };
        plain.push_str(before);
        plain.push(' ');
        plain.push_str(
            inside.strip_prefix('!').unwrap_or_default().trim_start_matches(char::is_numeric),
        );
        rest = after;
    }
    plain + rest
}

/// A query without the texts in it, which it compares with and does not run.
fn without_values(statement: &str) -> String {
    let query = statement.trim_end_matches(';').trim_end();
    let runs = ["exec", "dblink", "query_to", "--", "/*", ";"];
    if !query.starts_with("select ") || runs.iter().any(|word| query.contains(word)) {
        return statement.to_owned();
    }
    query.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

/// Whether a program reads its code from standard input.
pub(super) fn reads_input(line: &Line<'_>, language: &Language) -> bool {
    let gives = |names: &str| {
        !names.is_empty() && line.values(names).next().is_some_and(|(_, code)| code != "-")
    };
    if gives(&language.code) || gives(&language.no_input) {
        return false;
    }
    if !language.destroys.is_empty() {
        return true;
    }
    let input = |text: &str| matches!(text, "-" | "/dev/stdin" | "/dev/fd/0");
    match line.next(0, "*", false) {
        Some(after) => line.command.args.get(after - 1).is_some_and(|word| input(&word.text)),
        None => true,
    }
}

/// The command and those that wrap it, innermost first.
fn wrappers(at: usize, script: &Script) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(at), |at| script.commands().get(*at)?.wrapped_by)
}

/// Whether standard input may come from a pipe: no redirect replaces it.
pub(super) fn is_piped(at: usize, script: &Script) -> bool {
    let redirected = |command: &Command| {
        command
            .redirects
            .iter()
            .any(|redirect| matches!(redirect.direction, Direction::Read | Direction::Inline))
    };
    !wrappers(at, script).filter_map(|at| script.commands().get(at)).any(redirected)
}

/// The texts on a command's standard input: here-documents, here-strings, and what is printed into
/// it.
pub(super) fn input(at: usize, script: &Script) -> Vec<&str> {
    let commands = script.commands();
    let own: Vec<&str> =
        wrappers(at, script).filter_map(|at| commands.get(at)).flat_map(inline_of).collect();
    if !own.is_empty() || !is_piped(at, script) {
        return own;
    }
    let outermost = wrappers(at, script).last().unwrap_or(at);
    let before = outermost.checked_sub(1).and_then(|before| commands.get(before));
    let Some(printer) = before.filter(|command| {
        matches!(command.program(), Some("echo" | "printf" | "cat"))
            && matches!(command.stdout, Destination::Filtered | Destination::Captured)
    }) else {
        return Vec::new();
    };
    let printed = printer.args.iter().map(|word| word.text.as_str());
    inline_of(printer).chain(printed.filter(|_| printer.program() != Some("cat"))).collect()
}

/// The here-documents and here-strings of a command.
fn inline_of(command: &Command) -> impl Iterator<Item = &str> {
    command.redirects.iter().filter_map(|redirect| match &redirect.target {
        Target::Text(word) => Some(word.text.as_str()),
        _ => None,
    })
}

/// Whether code prints a variable with the name of a secret, rather than only testing for it.
fn prints_secret(code: &str, always: bool) -> bool {
    let tables = Tables::own();
    let has =
        |text: &str, list: &str| tables.words(list).iter().any(|word| text.contains(word.as_str()));
    tables.words("code for variables").iter().any(|accessor| {
        code.match_indices(accessor.as_str()).any(|(at, _)| {
            let (before, rest) = code.split_at_checked(at).unwrap_or_default();
            let rest = rest.get(accessor.len()..).unwrap_or_default();
            let rest = rest.trim_start_matches(['[', '(', '{', '.', '\'', '"']);
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let (name, after) =
                rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or_default();
            let statement = before.rsplit(['\n', ';']).next().unwrap_or(before);
            let prints = always || has(statement, "code that prints");
            secret::is_name(name)
                && prints
                && !has(statement, "code that only asks")
                && !has(after.lines().next().unwrap_or(""), "code that asks behind")
        })
    })
}
