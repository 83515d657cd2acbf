mod appended;
mod inner;
mod options;
mod table;

pub(super) use inner::{Body, Inner};

use appended::{find, parallel, xargs};
use inner::{joined, script};
use options::{option_value, past_options, split_string};
use table::{by_table, list};

use super::command::{Command, Direction, Position, Target, Word};
use super::state::Dialect;
use super::status::{Masking, Status};

/// What the command runs, if it is a wrapper.
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let Some(program) = command.program() else { return Vec::new() };
    let args = command.args.as_slice();
    match program {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish" => shell(command),
        "eval" if !args.is_empty() => vec![Inner { dialect: None, ..script(joined(args)) }],
        "find" | "gfind" => find(args),
        "xargs" => xargs(args),
        "parallel" => parallel(args),
        "watch" => {
            let rest = past_options(args, list("watch"), 0, false);
            let status = Status::Masked(Masking::Wrapper);
            if rest.is_empty() {
                return Vec::new();
            }
            vec![Inner { status, ..script(joined(rest)) }]
        }
        "trap" => match args {
            [action, _, ..] if !action.text.starts_with('-') => {
                let status = Status::Masked(Masking::Wrapper);
                let action = action.literal().map(str::to_owned);
                vec![Inner { status, dialect: None, ..script(action) }]
            }
            _ => Vec::new(),
        },
        "at" | "batch" => later(command),
        "make" | "gmake" if reads_a_makefile(args) => vec![script(None)],
        "su" | "runuser" | "script" => option_value(args, &["-c", "--command"]),
        "flock" => match option_value(args, &["-c", "--command"]) {
            none if none.is_empty() => by_table(program, args).into_iter().collect(),
            found => found,
        },
        "ssh" => {
            let rest = past_options(args, list("ssh"), 1, false);
            let text = if rest.is_empty() { here_text(command) } else { Some(joined(rest)) };
            text.map(|text| Inner { position: Position::Remote, ..script(text) })
                .into_iter()
                .collect()
        }
        "env" => match split_string(args) {
            Some(text) => vec![script(text)],
            None => by_table(program, args).into_iter().collect(),
        },
        "command" if args.first().is_some_and(|w| matches!(w.text.as_str(), "-v" | "-V")) => {
            Vec::new()
        }
        _ => tool(program, args),
    }
}

/// What a tool runs if one of its options or operands is a command.
fn tool(program: &str, args: &[Word]) -> Vec<Inner> {
    match program {
        "git" if has_word(args, "rebase") => option_value(args, &["-x", "--exec"]),
        "git" if has_word(args, "submodule") => match args.iter().position(|w| w.text == "foreach")
        {
            Some(at) => {
                let rest = args.get(at + 1..).unwrap_or_default();
                let rest = past_options(rest, &[], 0, false);
                vec![script(joined(rest))]
            }
            None => Vec::new(),
        },
        "git" if has_word(args, "filter-branch") => {
            let filters = [
                "--tree-filter",
                "--index-filter",
                "--msg-filter",
                "--env-filter",
                "--commit-filter",
            ];
            filters.iter().flat_map(|filter| option_value(args, &[filter])).collect()
        }
        "cargo" if has_word(args, "watch") => {
            let mut found = option_value(args, &["-s", "--shell"]);
            let commands = option_value(args, &["-x", "--exec"]);
            found.extend(commands.into_iter().map(|inner| match inner.script {
                Body::Text(text) => script(Some(format!("cargo {text}"))),
                _ => inner,
            }));
            found
        }
        "hyperfine" => {
            let rest = past_options(args, list("hyperfine"), 0, false);
            rest.iter().map(|word| script(word.literal().map(str::to_owned))).collect()
        }
        "watchexec" => {
            let rest = past_options(args, list("watchexec"), 0, false);
            if rest.is_empty() { Vec::new() } else { vec![script(joined(rest))] }
        }
        "nix-shell" => option_value(args, &["--run", "--command"]),
        "npx" | "npm" => match option_value(args, &["-c", "--call"]) {
            none if none.is_empty() => by_table(program, args).into_iter().collect(),
            found => found,
        },
        _ => by_table(program, args).into_iter().collect(),
    }
}

/// The folder in which `env -C FOLDER` runs its command.
pub(super) fn goes_to(command: &Command) -> Option<&Word> {
    let args = command.args.iter().zip(command.args.iter().skip(1));
    let mut named = args.filter(|(option, _)| matches!(option.text.as_str(), "-C" | "--chdir"));
    named.next().map(|(_, folder)| folder).filter(|_| command.program() == Some("env"))
}

/// What `at` runs later, from its standard input: `at now <<< 'make'`, `echo make | at now`.
fn later(command: &Command) -> Vec<Inner> {
    let only_looks = ["-l", "-d", "-r", "-c", "-V"];
    let looks = command.args.iter().any(|word| only_looks.contains(&word.text.as_str()));
    let from_file = has_word(&command.args, "-f") || reads_file(command);
    if looks || from_file {
        return Vec::new();
    }
    vec![script(here_text(command).flatten())]
}

/// Whether the rules of `make` are not in the text: `make -f <(…)`, `… | make -f -`.
fn reads_a_makefile(args: &[Word]) -> bool {
    let values = args.windows(2).filter_map(|pair| match pair {
        [option, value] => (option.text == "-f").then_some(value.text.as_str()),
        _ => None,
    });
    let joined = args.iter().filter_map(|word| word.text.strip_prefix("--file="));
    values.chain(joined).any(|file| file == "-" || file.starts_with("<(") || is_input(file))
}

fn has_word(args: &[Word], word: &str) -> bool {
    args.iter().any(|arg| arg.text == word)
}

/// The text on standard input, if it is given in the script; `Some(None)` if it is not fixed.
fn here_text(command: &Command) -> Option<Option<String>> {
    command.redirects.iter().rev().find_map(|redirect| {
        match (&redirect.target, redirect.direction) {
            (Target::Text(word), Direction::Inline) => Some(word.literal().map(str::to_owned)),
            _ => None,
        }
    })
}

/// What a shell runs: `bash -c 'script'`, `bash <<EOF`, `sh -s`.
fn shell(command: &Command) -> Vec<Inner> {
    let mut args = command.args.iter();
    let mut errexit = false;
    let mut pipefail = false;
    let mut runs_text = false;
    let mut reads_input = false;
    let mut only_checks = false;
    let is_posix = matches!(command.program(), Some("sh" | "dash" | "ash"));
    let dialect = Some(if is_posix { Dialect::Posix } else { Dialect::Bash });
    while let Some(word) = args.next() {
        let option = word.text.as_str();
        if matches!(option, "-o" | "+o" | "-O" | "--rcfile" | "--init-file") {
            let value = args.next().map(|word| word.text.as_str());
            pipefail |= value == Some("pipefail");
            errexit |= value == Some("errexit");
        } else if option == "--" {
        } else if let Some(flags) = option.strip_prefix('-').filter(|f| !f.starts_with('-')) {
            errexit |= flags.contains('e');
            runs_text |= flags.contains('c');
            reads_input |= flags.contains('s');
            only_checks |= flags.contains('n');
            if flags.ends_with('o') {
                let value = args.next().map(|word| word.text.as_str());
                pipefail |= value == Some("pipefail");
            }
        } else if matches!(option, "--version" | "--help") {
            return Vec::new();
        } else if option.starts_with('-') || option.starts_with('+') {
        } else if runs_text {
            let text = word.literal().map(str::to_owned);
            return vec![Inner { errexit, pipefail, dialect, ..script(text) }];
        } else if !reads_input {
            let unread = word.literal().is_none_or(is_input) && !only_checks;
            return unread.then(|| script(None)).into_iter().collect();
        }
    }
    match here_text(command) {
        Some(text) if !runs_text => vec![Inner { errexit, pipefail, dialect, ..script(text) }],
        _ if only_checks || reads_file(command) => Vec::new(),
        _ => vec![script(None)],
    }
}

/// Whether standard input is a named file, which is equivalent to naming a script.
fn reads_file(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| match &redirect.target {
        Target::File(word) => {
            redirect.direction == Direction::Read
                && word.literal().is_some_and(|path| !is_input(path))
        }
        _ => false,
    })
}

/// Whether the path refers to something that is already open: standard input, a pipe.
fn is_input(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match parts.as_slice() {
        ["dev", "stdin" | "fd", ..] => true,
        // Of any process, under any name.
        ["proc", rest @ ..] => rest.contains(&"fd"),
        parts => parts.contains(&"..") && parts.iter().any(|part| matches!(*part, "dev" | "proc")),
    }
}
