//! Folders that the script itself created under a random name.

use counterfoil_shell::{Command, Script, Word};

use super::place::Place;

/// Built-ins that assign variables by name.
const ASSIGN: &[&str] = &[
    "coproc",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "source",
    ".",
    "typeset",
    "unset",
    "wait",
];

/// Whether the word is a variable that holds the output of `mktemp` or nothing, and that nothing in
/// the script could have changed: `tmp=$(mktemp -d); …; rm -rf "$tmp"`. Also for a path below it,
/// if that path is not protected even when the variable is empty.
pub(super) fn is_temporary(word: &Word, script: &Script, text: &str, place: &Place) -> bool {
    let (variable_word, below) = match word.text.split_once('/') {
        Some((before, below)) => (before, Some(below)),
        None => (word.text.as_str(), None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if below.is_some_and(|below| {
        !below.chars().all(plain) || below.contains("..") || place.protects(&format!("/{below}"))
    }) {
        return false;
    }
    let Some(name) = variable(variable_word) else { return false };
    let mut assignments = script
        .commands()
        .iter()
        .flat_map(|command| command.assignments.iter().map(move |made| (command, made)))
        .filter(|(_, made)| made.name == name);
    let Some((command, made)) = assignments.next() else { return false };
    // A name in capitals may come from the environment.
    let own = name.chars().all(|c| !c.is_ascii_uppercase())
        || command.always && command.name.is_none() && !["HOME", "PWD", "OLDPWD"].contains(&name);
    own && !made.append
        && made_by_mktemp(&made.value.text)
        && assignments.next().is_none()
        // These change the folder of `mktemp`, `mktemp` itself, or how its output is split.
        && !["IFS", "TMPDIR", "PATH", "mktemp("].iter().any(|trap| text.contains(trap))
        && script.functions().iter().all(|function| function.name != "mktemp")
        && only_used(&text.replace("\\\n", ""), name)
        && script.commands().iter().all(|command| leaves_alone(command, name))
}

/// The name in `$name` or `${name}`.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)).then_some(name)
}

/// Whether the value is `$(mktemp …)` with plain words.
fn made_by_mktemp(value: &str) -> bool {
    let inner = value.strip_prefix("$(").and_then(|value| value.strip_suffix(')'));
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ' ');
    inner.is_some_and(|inner| {
        inner.chars().all(plain) && inner.split_whitespace().next() == Some("mktemp")
    })
}

/// Whether the name occurs only as `$name`, as `${name}` or in a path, and once before `=$(mktemp`.
fn only_used(text: &str, name: &str) -> bool {
    let mut made = 0;
    text.match_indices(name).all(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if before.ends_with(part) && !before.ends_with("mk") || after.starts_with(part) {
            // A longer name that contains this one.
            return true;
        }
        let begins = !before.ends_with(part);
        if begins && ["=$(mktemp", "=\"$(mktemp"].iter().any(|value| after.starts_with(value)) {
            made += 1;
            return made == 1 && !before.ends_with('$') && !before.ends_with('{');
        }
        before.ends_with("${") && after.starts_with('}')
            || before.ends_with(['$', '/'])
            || before.ends_with("mk") && after.starts_with([' ', ')'])
    })
}

/// Whether the command assigns the variable no other value, however it writes the name.
fn leaves_alone(command: &Command, name: &str) -> bool {
    let assigns = command.program().is_some_and(|program| ASSIGN.contains(&program));
    let prints_into = command.program() == Some("printf")
        && command
            .args
            .first()
            .is_some_and(|word| word.literal().is_none() || word.text.starts_with("-v"));
    let loops = command.args.iter().any(|word| word.literal() == Some(name));
    !assigns && !prints_into && !loops
}
