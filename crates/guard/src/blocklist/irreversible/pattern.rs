//! How a row of the tables is written, and whether a command is one of those that it means.
//!
//! A pattern is a program and what must be so for its words, all of it divided by blanks; `|` divides
//! alternatives, and `*` is any characters:
//!
//! | written | means |
//! |---|---|
//! | `volume` | the next operand; what may be an option's value is passed over |
//! | `...` | before the next operand any others may stand |
//! | `-f` | an option, also among others (`-xf`) and with a value |
//! | `-X=DELETE` | an option with this value |
//! | `@outside` | one of the operands after those named so far names such a place |
//! | `@from-secret` | a secret is named before the last word, which says where it goes |
//! | `last:x` | the last word |
//! | `@dumped` | the line prints the environment, or a variable with a secret, into a pipe |
//! | `@here` | it is about this machine, and no address of another stands in it |
//! | `@shown` | what it prints is what is seen at the end |
//! | `@fed` | the same, and a file of secrets, or what prints one |
//! | `$A` | the line assigns this variable |
//! | `!x` | not so |
//! | `{}` | a command: the words from here; after an option those that follow it |
//! | `-P={}`, `-c=x=!{}` | a command: an option's value, or what follows its beginning |

use counterfoil_shell::{Command, Destination, Direction, Target, Word, WordKind};

use super::Place;
use super::secret;
use super::tables::Tables;
use crate::blocklist::names::like;
use crate::blocklist::values::{self, Site};

/// A command with what is around it.
pub(super) struct Line<'l> {
    pub(super) program: &'l str,
    pub(super) command: &'l Command,
    pub(super) site: Site<'l>,
    pub(super) place: &'l Place,
}

/// The command that stands in a command's words; one word alone is a script.
pub(super) type Inner = Vec<Word>;

/// Whether one of the alternatives is the text, but for capitals.
pub(super) fn like_any(alternatives: &str, text: &str) -> bool {
    alternatives.split('|').any(|glob| match glob {
        r"\*" => text == "*",
        glob if glob.contains('*') => like(&glob.to_lowercase(), &text.to_lowercase()),
        glob => glob.eq_ignore_ascii_case(text),
    })
}

fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

impl<'l> Line<'l> {
    /// Whether the pattern means this command.
    pub(super) fn fits(&self, pattern: &str) -> bool {
        self.capture(pattern).is_some()
    }

    /// What stands at `{}`, nothing where the pattern has none; `None` where it means another command.
    pub(super) fn capture(&self, pattern: &str) -> Option<Inner> {
        let mut tokens = pattern.split(' ');
        let programs = tokens.next()?;
        if !like_any(programs, self.program) {
            return None;
        }
        let words = self.command.args.as_slice();
        let (mut at, mut anywhere, mut option) = (0, false, None);
        for token in tokens {
            let found_option = option.take();
            match token {
                "..." => anywhere = true,
                "{}" => return self.rest(found_option, at),
                _ if let Some(value) = token.strip_suffix("{}") => {
                    let (names, begins) = value.split_once('=')?;
                    return self.values(names).find_map(|(at, value)| {
                        let text = after(begins, value)?.to_owned();
                        Some(vec![Word { text, kind: words.get(at)?.kind }])
                    });
                }
                _ if token.starts_with('-') && !token.contains('=') => {
                    option = Some(self.option(token)?);
                }
                _ if token.starts_with(['!', '-', '@', '$']) || token.starts_with("last:") => {
                    if !self.holds(token, at) {
                        return None;
                    }
                }
                _ => {
                    at = self.next(at, token, anywhere)?;
                    anywhere = false;
                }
            }
        }
        Some(Vec::new())
    }

    /// The words of a command that begins after an option, or with the next operand.
    fn rest(&self, option: Option<usize>, at: usize) -> Option<Inner> {
        let from = match option {
            Some(option) => option + 1,
            None => self.next(at, "*", false)? - 1,
        };
        self.command.args.get(from..).filter(|words| !words.is_empty()).map(<[Word]>::to_vec)
    }

    /// The position after the next operand, which is one of these.
    pub(super) fn next(&self, from: usize, alternatives: &str, anywhere: bool) -> Option<usize> {
        let tables = Tables::own();
        let valued = Tables::options(&tables.valued, self.program);
        let texts = tables.words("options with text");
        let (mut perhaps_value, mut surely_value) = (false, false);
        for (at, word) in self.command.args.iter().enumerate().skip(from) {
            let text = word.text.as_str();
            if is_option(text) {
                surely_value = match valued {
                    Some(valued) => takes_next(valued, text),
                    None => anywhere && texts.iter().any(|option| option == text),
                };
                perhaps_value = valued.is_none() && !text.contains('=') && text != "--";
                continue;
            }
            if std::mem::take(&mut surely_value) {
                continue;
            }
            if like_any(alternatives, text) {
                return Some(at + 1);
            }
            if !(std::mem::take(&mut perhaps_value) || anywhere) {
                return None;
            }
        }
        None
    }

    /// Whether a condition of a pattern holds; `from` is where the operands are that no word of it
    /// has named.
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
            "@keys" if self.reads_keys() => return true,
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
        // The last word of what copies says where it goes.
        let (name, end) = match token {
            "@from-secret" => ("@secret", args.len().saturating_sub(1)),
            token => (token, args.len()),
        };
        let own = if matches!(name, "@keys" | "@secret") { self.own_values() } else { Vec::new() };
        args.iter().enumerate().take(end).skip(from).any(|(at, word)| {
            (all || !is_option(&word.text)) && !own.contains(&at) && self.is(name, word)
        })
    }

    /// Whether a word is what a name says, or one of the alternatives.
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
            "@secret" => secret::is_place(text),
            "@keys" => secret::holds_keys(text),
            "@variable" => secret::holds_variable(text),
            "@name" => secret::is_name(text),
            "@about-secrets" => secret::is_about(text),
            "@remote" => is_remote(text),
            "@test" => is_test(text),
            _ => like_any(name, text),
        }
    }

    /// The same for what the script gives the variables of a word.
    fn is_of_value(&self, name: &str, word: &Word) -> bool {
        let words = values::of(word, &self.site, false).unwrap_or_default();
        words.iter().any(|word| !word.text.contains('$') && self.is(name, word))
    }

    /// Whether the environment, or a variable called after a secret, is printed into another command of
    /// the line.
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

    /// The same, and a file of secrets, or what prints some.
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

    /// The place of an option that is there: `-f`, `-xf`, `--force`, `--force=x`.
    pub(super) fn option(&self, names: &str) -> Option<usize> {
        let among = |word: &str, name: &str| {
            let letters = word.strip_prefix('-').filter(|w| !w.starts_with('-') && w.len() < 6);
            let letter = name.strip_prefix('-').filter(|name| name.len() == 1 && *name != "-");
            letters.zip(letter).is_some_and(|(word, letter)| word.contains(letter))
        };
        self.command.args.iter().position(|word| {
            let text = word.text.as_str();
            names.split('|').any(|name| {
                text == name
                    || among(text, name)
                    || name.contains('*') && like(name, text)
                    || text.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
            })
        })
    }

    /// The values of an option, with the places of the words they stand in.
    pub(super) fn values(&self, names: &str) -> impl Iterator<Item = (usize, &'l str)> {
        let names: Vec<String> = names.split('|').map(str::to_owned).collect();
        let args = self.command.args.as_slice();
        args.iter().enumerate().flat_map(move |(at, word)| {
            let next = args.get(at + 1).map(|next| (at + 1, next.text.as_str()));
            let found = names.iter().find_map(|name| value_in(&word.text, name));
            found.and_then(|value| if value.is_empty() { next } else { Some((at, value)) })
        })
    }

    /// The places of words that a client needs for itself: its own keys and settings.
    fn own_values(&self) -> Vec<usize> {
        let options = Tables::options(&Tables::own().own, self.program).unwrap_or_default();
        self.values(&options.replace(' ', "|")).map(|(at, _)| at).collect()
    }

    /// Whether the line gives one of these variables a value.
    fn assigns(&self, names: &str) -> bool {
        let is = |name: &str| names.split('|').any(|known| known.trim_start_matches('$') == name);
        self.site.script.commands().iter().any(|command| {
            let before = command.assignments.iter().map(|assignment| assignment.name.as_str());
            let words = command.args.iter().filter_map(|word| Some(word.text.split_once('=')?.0));
            before.chain(words).any(is)
        })
    }
}

/// What follows the beginning of a text; `*` is any characters, as few as can be.
fn after<'t>(begins: &str, text: &'t str) -> Option<&'t str> {
    let (first, then) = begins.split_once('*').unwrap_or((begins, ""));
    let at = text.get(..first.len()).filter(|start| start.eq_ignore_ascii_case(first))?.len();
    let rest = text.get(at..)?;
    rest.find(then).and_then(|found| rest.get(found + then.len()..))
}

/// The value of an option in a word, empty where it is the next word; `None` where the word is
/// another option.
fn value_in<'w>(text: &'w str, name: &str) -> Option<&'w str> {
    let rest = text.strip_prefix(name);
    if let Some(rest) = rest {
        if rest.is_empty() {
            return Some(rest);
        }
        if let Some(value) = rest.strip_prefix('=') {
            return Some(value);
        }
    }
    let letter = name.strip_prefix('-').filter(|name| name.len() == 1 && *name != "-")?;
    let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
    let (before, value) = cluster.split_once(letter)?;
    before.chars().all(|c| c.is_ascii_alphabetic()).then_some(value)
}

/// Whether an option takes the next word: `-p`, `-itp`, `--name`.
fn takes_next(valued: &str, text: &str) -> bool {
    valued.split(' ').any(|option| value_in(text, option).is_some_and(str::is_empty))
}

/// `localhost:3000/items`, `http://127.0.0.1/`: an address of this machine.
fn is_here(text: &str) -> bool {
    let address = text.split_once("://").map_or(text, |(_, address)| address);
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let here = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
    here.iter().any(|name| {
        host.strip_prefix(name).is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

/// `host:path`, `user@host:`, `s3://bucket`.
fn is_remote(text: &str) -> bool {
    let scheme = text.split_once("://").is_some_and(|(scheme, _)| scheme != "file");
    let host = text.split_once(':').is_some_and(|(host, _)| {
        host.len() > 1 && !host.contains('/') && !host.starts_with(['.', '~', '-'])
    });
    scheme || host
}

/// `app_test`, `postgres://localhost/shop-test`, `db/test.sqlite3`: the name of a database for tests.
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
