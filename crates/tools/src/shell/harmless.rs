use std::path::{Component, Path, PathBuf};

use counterfoil_shell::{Command, Direction, Script, Target, Word};

/// Programs that only read, whatever their arguments: none writes a file, runs another program or
/// uses the network.
const READERS: [&str; 29] = [
    "[", "basename", "cat", "cd", "cmp", "comm", "cut", "diff", "dirname", "du", "echo", "egrep",
    "false", "fgrep", "find", "grep", "head", "ls", "nl", "od", "printf", "pwd", "readlink",
    "realpath", "stat", "tail", "test", "true", "wc",
];

/// Arguments that make `find` do more than look.
const FIND_DOES_MORE: [&str; 5] = ["-exec", "-ok", "-delete", "-fprint", "-fls"];

/// Whether a command only reads, and only inside the workspace, so that it is harmless even if
/// unconfined. If in doubt, it is not.
pub(super) fn is_harmless(command: &str, workspace: &Path, directory: &Path) -> bool {
    let Ok(workspace) = workspace.canonicalize() else { return false };
    let Ok(script) = Script::parse(command) else { return false };
    let place = Place { workspace: &workspace, directory };
    script.substitutions() == 0
        && script.process_substitutions() == 0
        && script.unread().is_empty()
        && script.functions().is_empty()
        && script.writes().is_empty()
        && !script.commands().is_empty()
        && script.commands().iter().all(|command| place.reads_only(command))
}

struct Place<'p> {
    workspace: &'p Path,
    directory: &'p Path,
}

impl Place<'_> {
    fn reads_only(&self, command: &Command) -> bool {
        // With a path as its name, it may be any program.
        let Some(name) = command.name.as_ref().and_then(Word::literal) else { return false };
        let Some(start) = command.directory.as_deref().filter(|start| !start.starts_with('~'))
        else {
            return false;
        };
        let directory = self.directory.join(start);
        READERS.contains(&name)
            && command.assignments.is_empty()
            && command.args.iter().all(|word| self.argument_stays(name, word, &directory))
            && command.redirects.iter().all(|redirect| match &redirect.target {
                Target::File(word) if word.literal() == Some("/dev/null") => true,
                Target::File(word) => {
                    redirect.direction == Direction::Read
                        && word.literal().is_some_and(|path| self.holds(path, &directory))
                }
                Target::Fd(_) | Target::Closed => true,
                Target::Text(_) | Target::Process => false,
            })
    }

    fn argument_stays(&self, program: &str, word: &Word, directory: &Path) -> bool {
        let Some(text) = word.literal() else { return false };
        match text.strip_prefix('-') {
            // Not an option, but `-` or a test of `[`.
            None | Some("") => self.holds(text, directory),
            Some(flags) => {
                // Long options that name or follow files, by any abbreviation (`--files0-from=`,
                // `--file=`, `--dereference`, `--follow`), and any option that contains a path.
                let long = flags.strip_prefix('-');
                let elsewhere = long.is_some_and(|long| long.starts_with(['d', 'f']))
                    || text.contains(['/', '~'])
                    || text.contains("..");
                let follows = long.is_none()
                    && match program {
                        "grep" | "egrep" | "fgrep" => flags.contains(['R', 'f']),
                        "ls" | "du" => flags.contains(['L', 'H', 'D']),
                        "find" => {
                            FIND_DOES_MORE.iter().any(|more| text.starts_with(more))
                                || matches!(flags, "L" | "H" | "follow" | "files0-from")
                        }
                        "diff" => flags.contains('r'),
                        "tail" => flags.contains(['f', 'F']),
                        _ => false,
                    };
                let value = text.split_once('=').map(|(_, value)| value);
                !elsewhere && !follows && value.is_none_or(|value| self.holds(value, directory))
            }
        }
    }

    /// Whether the argument, if it is a path, leads to a place in the workspace.
    fn holds(&self, text: &str, directory: &Path) -> bool {
        if text.starts_with('~') {
            return false;
        }
        let path = tidy(&directory.join(text));
        match path.canonicalize() {
            Ok(real) => real.starts_with(self.workspace),
            // Nothing exists there: a pattern, a number, or an unreadable path.
            Err(_) => path.starts_with(self.workspace),
        }
    }
}

/// Removes `.` and `..` lexically.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                tidy.pop();
            }
            Component::CurDir => {}
            part => tidy.push(part),
        }
    }
    tidy
}
