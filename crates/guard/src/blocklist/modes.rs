//! Modes, owners, times and attributes of files outside the workspace. Landlock does not look at
//! them: where a guard runs the command itself, a person is asked.

use counterfoil_shell::Command;

use super::{Blocklist, Refusal, shown};

/// Programs that change them, and how many operands come before the files.
const PROGRAMS: [(&str, usize); 9] = [
    ("chmod", 1),
    ("gchmod", 1),
    ("chown", 1),
    ("gchown", 1),
    ("chgrp", 1),
    ("chattr", 1),
    ("chflags", 1),
    ("setfacl", 0),
    ("touch", 0),
];

pub(super) fn blocked(command: &Command, list: &Blocklist) -> Option<Refusal> {
    // What an agent runs itself is judged by what cannot be undone.
    if list.asks_irreversible {
        return None;
    }
    let program = command.program()?;
    let (_, before) = PROGRAMS.iter().find(|(name, _)| *name == program)?;
    let operands = command.args.iter().filter(|word| !word.text.starts_with('-')).skip(*before);
    let directory = command.directory.as_deref();
    let outside = operands.into_iter().find(|word| list.place.is_left(word, directory))?;
    let file = shown(&outside.text);
    Some(Refusal::irreversible(format!("`{program}` changes `{file}`, outside the workspace")))
}
