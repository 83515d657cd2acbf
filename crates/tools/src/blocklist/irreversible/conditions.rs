//! The conditions of a pattern: required or forbidden options, and what words name.

use counterfoil_shell::{Command, Destination, Direction, Target, Word, WordKind};

use super::pattern::{Line, is_option};
use super::secret;
use super::tables::Tables;
use crate::blocklist::names::is_fed;
use crate::blocklist::values;
use crate::blocklist::wildcards::like_any;

impl<'l> Line<'l> {
    /// Whether a condition of a pattern holds. `from` is the index of the first operand that the
    /// pattern has not matched yet.
    pub(super) fn holds(&self, token: &str, from: usize) -> bool {
        if let Some(negated) = token.strip_prefix('!') {
            return !self.holds(negated, from);
        }
        let args = self.command.args.as_slice();
        if let Some(names) = token.strip_prefix('$') {
            return self.assigns(names);
        }
        match token {
            "@here" => {
                let elsewhere = |word: &Word| word.text.contains("://") && !is_here(&word.text);
                return args.iter().any(|word| is_here(&word.text)) && !args.iter().any(elsewhere);
            }
            "@dumped" => return self.is_dumped(),
            "@fed" => return self.is_fed(),
            "@gathered" => return self.is_gathered(),
            "@appended" => return is_fed(self.command, self.site.script),
            "@keys" if self.reads_keys() => return true,
            "@task" => {
                let first = args.first().map_or("", |word| word.text.as_str());
                let known = Tables::own().words("no tasks of agents");
                return !known.iter().any(|word| word == first);
            }
            "@shown" => return self.command.stdout == Destination::Shown,
            _ => {}
        }
        if let Some(last) = token.strip_prefix("last:") {
            return args.last().is_some_and(|word| self.is(last, word));
        }
        if let Some((names, value)) = token.split_once('=').filter(|_| token.starts_with('-')) {
            return self.values(names).any(|(_, text)| {
                let kind = if text.contains('$') { WordKind::Dynamic } else { WordKind::Literal };
                self.is(value, &Word { text: text.to_owned(), kind })
            });
        }
        if token.starts_with('-') {
            return self.option(token).is_some();
        }
        let all = matches!(token, "@test" | "@keys" | "@variable");
        let from = if all { 0 } else { from };
        // The last word of a copy is its destination.
        let (name, end) = match token {
            "@from-secret" => ("@secret", args.len().saturating_sub(1)),
            token => (token, args.len()),
        };
        let own = if matches!(name, "@keys" | "@secret") { self.own_values() } else { Vec::new() };
        args.iter().enumerate().take(end).skip(from).any(|(at, word)| {
            (all || !is_option(&word.text)) && !own.contains(&at) && self.is(name, word)
        })
    }

    /// Whether a word satisfies a named condition, or matches one of the alternatives.
    fn is(&self, name: &str, word: &Word) -> bool {
        let directory = self.command.directory.as_deref();
        let text = word.text.as_str();
        match name {
            "@system" | "@outside" if word.text.contains('$') && self.is_of_value(name, word) => {
                true
            }
            "@system" => self.place.loses(word, directory),
            "@outside" => match text.strip_prefix("of=") {
                Some(file) => {
                    let word = Word { text: file.to_owned(), kind: word.kind };
                    !file.starts_with("/dev/") && self.place.is_left(&word, directory)
                }
                None => self.place.is_left(word, directory),
            },
            "@mounted" => self.place.is_mounted(text),
            "@secret" => {
                secret::is_place(text)
                    || secret::is_place_in(directory, text)
                    || self.place.is_kept(text, directory)
            }
            "@keys" => secret::holds_keys(text),
            "@variable" => secret::holds_variable(text),
            "@name" => secret::is_name(text),
            "@about-secrets" => secret::is_about(text),
            "@remote" => is_remote(text),
            "@test" => is_test(text),
            "@set-id" => sets_id(text),
            _ => like_any(name, text),
        }
    }

    /// Whether a value that the script assigns to the variables of a word satisfies the condition.
    fn is_of_value(&self, name: &str, word: &Word) -> bool {
        let words = values::values_of(word, &self.site, false).unwrap_or_default();
        words.iter().any(|word| !word.text.contains('$') && self.is(name, word))
    }

    /// Whether the line prints the environment, or a variable with the name of a secret, into
    /// another command.
    fn is_dumped(&self) -> bool {
        self.passed_on().any(|command| {
            let program = command.program().unwrap_or_default();
            let option = |word: &Word| matches!(word.text.as_str(), "-p" | "-x" | "-0");
            let named =
                |word: &Word| secret::holds_variable(&word.text) || secret::is_name(&word.text);
            match program {
                "env" | "set" | "export" | "declare" => command.args.iter().all(option),
                "printenv" => command.args.iter().all(|word| option(word) || named(word)),
                "echo" | "printf" => command.args.iter().any(named),
                _ => false,
            }
        })
    }

    /// Whether the line prints a secret into another command: the environment, such a variable, or
    /// a file of secrets.
    fn is_fed(&self) -> bool {
        let prints = |command: &'l Command| {
            let program = command.program().unwrap_or_default();
            let line = Line { program, command, site: self.site.clone(), place: self.place };
            let keys = command.args.iter().any(|word| secret::holds_keys(&word.text));
            keys || Tables::own()
                .shown
                .keys()
                .any(|pattern| !pattern.contains("@dumped") && line.fits(pattern))
        };
        let others = self.passed_on().filter(|command| !std::ptr::eq(*command, self.command));
        self.is_dumped() || others.into_iter().any(prints)
    }

    /// Whether another command of the line puts a home or a system folder into one file.
    fn is_gathered(&self) -> bool {
        self.site.script.commands().iter().any(|command| {
            let program = command.program().unwrap_or_default();
            let line = Line { program, command, site: self.site.clone(), place: self.place };
            Tables::own().gathers.keys().any(|pattern| line.fits(pattern))
        })
    }

    /// The commands whose output goes to others of the line.
    fn passed_on(&self) -> impl Iterator<Item = &'l Command> {
        let commands = self.site.script.commands().iter();
        commands.filter(|command| {
            matches!(command.stdout, Destination::Filtered | Destination::Captured)
        })
    }

    /// Whether standard input is a file of secrets.
    fn reads_keys(&self) -> bool {
        self.command.redirects.iter().any(|redirect| match &redirect.target {
            Target::File(word) => {
                redirect.direction == Direction::Read && secret::holds_keys(&word.text)
            }
            _ => false,
        })
    }

    /// The indices of words that a client needs for itself: its own keys and settings.
    fn own_values(&self) -> Vec<usize> {
        let options = Tables::options(&Tables::own().own, self.program).unwrap_or_default();
        self.values(&options.replace(' ', "|")).map(|(at, _)| at).collect()
    }

    /// Whether the line assigns one of these variables.
    fn assigns(&self, names: &str) -> bool {
        let is = |name: &str| names.split('|').any(|known| known.trim_start_matches('$') == name);
        self.site.script.commands().iter().any(|command| {
            let before = command.assignments.iter().map(|assignment| assignment.name.as_str());
            let words = command.args.iter().filter_map(|word| Some(word.text.split_once('=')?.0));
            before.chain(words).any(is)
        })
    }
}

/// Whether the text is an address of this machine: `localhost:3000/items`, `http://127.0.0.1/`.
fn is_here(text: &str) -> bool {
    let address = text.split_once("://").map_or(text, |(_, address)| address);
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let here = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
    here.iter().any(|name| {
        host.strip_prefix(name).is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

/// Whether the text names something remote: `host:path`, `user@host:`, `s3://bucket`.
fn is_remote(text: &str) -> bool {
    let scheme = text.split_once("://").is_some_and(|(scheme, _)| scheme != "file");
    let host = text.split_once(':').is_some_and(|(host, _)| {
        host.len() > 1 && !host.contains('/') && !host.starts_with(['.', '~', '-'])
    });
    scheme || host
}

/// Whether a mode makes a program run with the rights of its owner or group: `u+s`, `4755`.
fn sets_id(mode: &str) -> bool {
    let by_letters = mode.split(',').any(|part| {
        let rights = part.trim_start_matches(['u', 'g', 'o', 'a']);
        rights.starts_with(['+', '='])
            && rights.contains('s')
            && rights.chars().all(|c| "+=-rwxXst".contains(c))
    });
    let by_digits = mode.len() >= 4 && mode.len() <= 5;
    let number = u32::from_str_radix(mode, 8).ok().filter(|_| by_digits);
    by_letters || number.is_some_and(|mode| mode & 0o6000 != 0)
}

/// Whether the text names a test database: `app_test`, `postgres://localhost/shop-test`,
/// `db/test.sqlite3`.
fn is_test(text: &str) -> bool {
    let file = [".db", ".sqlite", ".sqlite3"].iter().find_map(|end| text.strip_suffix(end));
    let name = match (file, text.split_once("://")) {
        (Some(path), _) => path.rsplit('/').next().unwrap_or(path),
        (None, Some((_, rest))) => rest.rsplit_once('/').map_or("", |(_, name)| name),
        (None, None) => text,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.starts_with('-')
        && name.chars().all(plain)
        && name.split(['_', '-']).any(|part| matches!(part, "test" | "tests" | "testing"))
}
