//! Reasons why a script may not show how a command ended: it never starts, another program runs
//! instead, or its output is rewritten or hidden.

use super::analysed::Script;
use super::command::{Command, Destination, Target, Word};

/// Why a script does not show how a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It comes after `exit`, or is in a branch that is never taken.
    NeverStarts,
    /// A function, an alias, or a file in the working directory runs instead.
    Replaced,
    /// Another command rewrites its output, or drops the lines that report failures.
    Rewritten,
    /// Its output goes elsewhere and is not shown later.
    Unseen,
}

/// Runners installed with the system or a toolchain. A file with such a name in the working
/// directory is a different program.
const INSTALLED: [&str; 24] = [
    "pytest", "python", "python3", "tox", "nox", "cargo", "go", "npm", "npx", "yarn", "pnpm",
    "node", "jest", "vitest", "mocha", "ctest", "make", "mvn", "gradle", "dotnet", "rspec",
    "phpunit", "mypy", "ruff",
];

impl Script {
    /// Why this script does not show how one of its commands ended; `None` if it may.
    #[must_use]
    pub fn doubt(&self, at: usize) -> Option<Doubt> {
        let command = self.commands().get(at)?;
        if !command.reached {
            return Some(Doubt::NeverStarts);
        }
        if self.is_replaced(command, at) {
            return Some(Doubt::Replaced);
        }
        if self.filters(at).any(rewrites) {
            return Some(Doubt::Rewritten);
        }
        let hidden = command.stdout == Destination::File && !self.is_shown_later(command, at);
        (hidden || command.stdout == Destination::Discarded).then_some(Doubt::Unseen)
    }

    /// Whether a trap determines the exit status of the script.
    #[must_use]
    pub fn traps_exit(&self) -> bool {
        self.commands().iter().any(|command| {
            command.program() == Some("trap")
                && command.args.first().is_some_and(|word| word.text.contains("exit"))
        })
    }

    fn is_replaced(&self, command: &Command, at: usize) -> bool {
        let Some(name) = command.name.as_ref().and_then(Word::literal) else { return false };
        let program = command.program().unwrap_or_default();
        if name.strip_prefix("./").is_some_and(|rest| INSTALLED.contains(&rest)) {
            return true;
        }
        if self.functions().iter().any(|function| function.name == name) {
            return true;
        }
        let before = self.commands().get(..at).unwrap_or_default();
        let aliased = before.iter().filter(|c| c.program() == Some("alias")).any(|alias| {
            alias
                .args
                .iter()
                .any(|word| word.text.split_once('=').is_some_and(|(alias, _)| alias == program))
        });
        let exported = before.iter().any(|c| {
            let exports = c.program() == Some("export");
            let words = c.args.iter().filter(|_| exports).map(|word| word.text.as_str());
            let alone = c.assignments.iter().filter(|_| c.name.is_none());
            words.filter_map(|word| word.strip_prefix("PATH=")).any(looks_here)
                || alone.filter(|a| a.name == "PATH").any(|a| looks_here(&a.value.text))
        });
        let own = command.assignments.iter().filter(|a| a.name == "PATH");
        aliased || exported || own.map(|a| a.value.text.as_str()).any(looks_here)
    }

    /// The commands that the output of a command passes through.
    fn filters(&self, at: usize) -> impl Iterator<Item = &Command> {
        let commands = self.commands();
        let depth = commands.get(at).map_or(0, |command| command.depth);
        let mut through = commands.get(at).map(|command| command.stdout);
        commands.iter().skip(at + 1).filter(move |command| command.depth == depth).map_while(
            move |command| {
                let goes_on = through == Some(Destination::Filtered);
                through = Some(command.stdout);
                goes_on.then_some(command)
            },
        )
    }

    /// Whether a later command shows the file that the command printed into, unchanged.
    fn is_shown_later(&self, command: &Command, at: usize) -> bool {
        let files = command.redirects.iter().filter_map(|redirect| match &redirect.target {
            Target::File(word) => word.literal(),
            _ => None,
        });
        let later = self.commands().get(at + 1..).unwrap_or_default();
        files.into_iter().any(|file| {
            let names = |c: &&Command| c.args.iter().any(|word| word.text == file);
            let mut named = later.iter().filter(names).peekable();
            let edits = |c: &Command| c.args.iter().any(|word| word.text.starts_with("-i"));
            named.peek().is_some() && named.all(|c| !rewrites(c) && !edits(c))
        })
    }
}

/// Whether a search path includes the working directory.
fn looks_here(path: &str) -> bool {
    path.split(':').any(|folder| {
        matches!(folder.trim_end_matches('/'), "" | "." | "$PWD" | "${PWD}" | "$(pwd)")
    })
}

const GOOD: [&str; 4] = ["pass", "ok", "success", "green"];
const BAD: [&str; 5] = ["fail", "error", "panic", "not ok", "exception"];

/// Whether a filter only lets reports of success through.
fn only_good(mentions: &dyn Fn(&[&str]) -> bool) -> bool {
    mentions(&GOOD) && !mentions(&BAD)
}

/// Whether a filter changes the words that report the result, or drops those that report a failure.
fn rewrites(filter: &Command) -> bool {
    let args: Vec<String> = filter.args.iter().map(|word| word.text.to_ascii_lowercase()).collect();
    let mentions = |words: &[&str]| args.iter().any(|arg| words.iter().any(|w| arg.contains(w)));
    match filter.program().unwrap_or_default() {
        "sed" => {
            let substitutes = args.iter().any(|arg| arg.starts_with("s/") || arg.contains(";s/"));
            if substitutes { mentions(&GOOD) || mentions(&BAD) } else { only_good(&mentions) }
        }
        "awk" | "gawk" | "mawk" => mentions(&["sub("]) || only_good(&mentions),
        "perl" | "python" | "python3" | "ruby" | "node" => mentions(&GOOD) || mentions(&BAD),
        // Colours and line endings are not words.
        "tr" => filter.args.iter().any(|word| {
            let letters = word.text.replace("\\r", "").replace("\\n", "").replace("\\t", "");
            !letters.starts_with('-') && letters.contains(|c: char| c.is_ascii_alphabetic())
        }),
        "cut" => args.iter().any(|arg| arg.starts_with("-d") || arg.starts_with("-f")),
        "rev" => true,
        "grep" | "egrep" | "fgrep" | "rg" => {
            let inverted = args.iter().any(|arg| {
                arg == "--invert-match"
                    || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains('v'))
            });
            if inverted { mentions(&BAD) } else { only_good(&mentions) }
        }
        _ => false,
    }
}

/// Whether the commands after this one never start.
pub(super) fn ends_the_script(words: &[&str]) -> bool {
    match words {
        ["exit" | "return" | "logout", ..] => true,
        ["exec", program, ..] => !program.starts_with(['<', '>']),
        _ => false,
    }
}

/// The fixed result of a command without any effect; `None` for any other.
pub(super) fn constant(words: &[&str]) -> Option<bool> {
    match words {
        ["true" | ":"] => Some(true),
        ["false"] => Some(false),
        _ => None,
    }
}
