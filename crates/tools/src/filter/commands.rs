use counterfoil_shell::{Command, Destination, Position, Script};

/// Programs with no output of interest, or only a word of it.
const QUIET: &[&str] = &[
    ":", "[", "cd", "cp", "echo", "exit", "export", "false", "ln", "mkdir", "mv", "popd", "printf",
    "pushd", "rm", "rmdir", "set", "shopt", "sleep", "test", "touch", "true", "ulimit", "umask",
    "unset", "wait",
];

/// Programs that pass lines through if they have no file argument.
const PASSING_ON: &[&str] = &["cat", "head", "less", "more", "tail", "tee"];

/// The commands whose output is visible when this line runs, including one that searches the output
/// of another (`… | grep FAILED`); `None` if the commands are unknown.
#[must_use]
pub fn shown_commands(line: &str) -> Option<Vec<String>> {
    let script = Script::parse(line).ok()?;
    let commands = script.commands();
    let mut shown = Vec::new();
    for (place, command) in commands.iter().enumerate() {
        let wraps = commands.iter().any(|other| other.wrapped_by == Some(place));
        if command.name.is_none() || wraps || !is_seen(command) {
            continue;
        }
        let program = command.program()?;
        if QUIET.contains(&program) || passes_on(program, command) {
            continue;
        }
        let words = command.args.iter().map(|word| word.text.as_str());
        let words: Vec<&str> = std::iter::once(program).chain(words).collect();
        shown.push(words.join(" "));
    }
    (!shown.is_empty()).then_some(shown)
}

fn is_seen(command: &Command) -> bool {
    // The error output of a command inside the words of another one is at most one line.
    let inside = matches!(command.inside, Position::Substitution | Position::ProcessSubstitution);
    let seen = |place| matches!(place, Destination::Shown | Destination::Filtered);
    !inside && (seen(command.stdout) || seen(command.stderr))
}

/// Whether a program only passes its input through: `tail -n 20`, but not `tail -n 20 file`.
fn passes_on(program: &str, command: &Command) -> bool {
    let plain = |text: &str| text.starts_with('-') || text.parse::<u64>().is_ok();
    PASSING_ON.contains(&program)
        && (program == "tee" || !command.args.is_empty() || program == "cat")
        && command.args.iter().all(|word| program == "tee" || plain(&word.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_seen_counts() {
        for (line, expected) in [
            ("cargo test", Some(vec!["cargo test"])),
            ("cd a && cargo test --lib 2>&1 | tail -n 20", Some(vec!["cargo test --lib"])),
            ("cargo build && cargo test", Some(vec!["cargo build", "cargo test"])),
            ("timeout 60 /usr/bin/cargo test", Some(vec!["cargo test"])),
            ("cargo test | grep FAILED", Some(vec!["cargo test", "grep FAILED"])),
            ("cargo test | tee log", Some(vec!["cargo test"])),
            ("cargo test > log; cat log", Some(vec!["cargo test", "cat log"])),
            ("tail -n 20 log", Some(vec!["tail -n 20 log"])),
            ("echo done", None),
            ("$RUNNER test", None),
            ("if", None),
        ] {
            let found = shown_commands(line);
            let found = found.as_ref().map(|f| f.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found, expected, "{line}");
        }
    }
}
