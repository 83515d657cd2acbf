//! The syntax of patterns in the tables, and matching them with commands.
//!
//! A pattern is a program followed by conditions on its words, separated by blanks; `|` separates
//! alternatives, and `*` matches any characters:
//!
//! | written | means |
//! |---|---|
//! | `volume` | the next operand; words that may be option values are skipped |
//! | `...` | any operands may precede the next one |
//! | `-f` | an option, also combined with others (`-xf`) or with a value |
//! | `-X=DELETE` | an option with this value |
//! | `@outside` | one of the remaining operands names such a place |
//! | `@from-secret` | a word before the last, which is the destination, names a secret |
//! | `last:x` | the last word |
//! | `@dumped` | the line prints the environment, or a variable with a secret, into a pipe |
//! | `@here` | it is about this machine, and it contains no address of another |
//! | `@shown` | what it prints is what is seen at the end |
//! | `@fed` | the same, and a file of secrets, or what prints one |
//! | `@gathered` | the line puts a home or a system folder into one file, or into a pipe |
//! | `@appended` | words from elsewhere follow, as with `xargs` |
//! | `@task` | its first word is none by which an agent's program only shows or sets something |
//! | `$A` | the line assigns this variable |
//! | `!x` | not `x` |
//! | `{}` | a command: the words from here on, or those after an option |
//! | `-P={}`, `-c=x=!{}` | a command: an option's value, or the rest of it after a prefix |

use counterfoil_shell::{Command, Word};

use super::tables::Tables;
use crate::blocklist::place::Place;
use crate::blocklist::values::Site;
use crate::blocklist::wildcards::{like, like_any};

/// A command and its context.
pub(super) struct Line<'l> {
    pub(super) program: &'l str,
    pub(super) command: &'l Command,
    pub(super) site: Site<'l>,
    pub(super) place: &'l Place,
}

/// The words of a command inside another command; a single word is a script.
pub(super) type Inner = Vec<Word>;

pub(super) fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

impl<'l> Line<'l> {
    /// Whether the pattern matches this command.
    pub(super) fn fits(&self, pattern: &str) -> bool {
        self.capture(pattern).is_some()
    }

    /// The command at `{}`, empty if the pattern has no `{}`; `None` if the pattern does not match.
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

    /// The index after the next operand, if it matches one of the alternatives.
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

    /// The index of an option: `-f`, `-xf`, `--force`, `--force=x`.
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
                    || is_shortened(text, name)
                    || name.contains('*') && like(name, text)
                    || text.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
            })
        })
    }

    /// The values of an option, with the indices of their words.
    pub(super) fn values(&self, names: &str) -> impl Iterator<Item = (usize, &'l str)> {
        let names: Vec<String> = names.split('|').map(str::to_owned).collect();
        let args = self.command.args.as_slice();
        args.iter().enumerate().flat_map(move |(at, word)| {
            let next = args.get(at + 1).map(|next| (at + 1, next.text.as_str()));
            let found = names.iter().find_map(|name| value_in(&word.text, name));
            found.and_then(|value| if value.is_empty() { next } else { Some((at, value)) })
        })
    }
}

/// Whether a word abbreviates a long option: `--forc` for `--force`.
fn is_shortened(text: &str, name: &str) -> bool {
    text.len() > 3 && text.starts_with("--") && name.starts_with(text)
}

/// The rest of a text after a prefix; `*` matches as few characters as possible.
fn after<'t>(begins: &str, text: &'t str) -> Option<&'t str> {
    let (first, then) = begins.split_once('*').unwrap_or((begins, ""));
    let at = text.get(..first.len()).filter(|start| start.eq_ignore_ascii_case(first))?.len();
    let rest = text.get(at..)?;
    rest.find(then).and_then(|found| rest.get(found + then.len()..))
}

/// The value of an option in a word, empty if the next word is the value; `None` if the word is
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

/// Whether an option takes the next word as its value: `-p`, `-itp`, `--name`.
fn takes_next(valued: &str, text: &str) -> bool {
    valued.split(' ').any(|option| value_in(text, option).is_some_and(str::is_empty))
}
