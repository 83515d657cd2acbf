use super::command::{Command, Destination, Position};
use super::status::Status;

/// What the surrounding constructs determine about a command.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) status: Status,
    pub(super) inside: Position,
    pub(super) depth: usize,
    /// The number of enclosing scripts: substitutions and `bash -c`.
    pub(super) level: usize,
    /// The shell that interprets this script.
    pub(super) dialect: Dialect,
    pub(super) stdout: Destination,
    pub(super) stderr: Destination,
    pub(super) wrapped_by: Option<usize>,
    pub(super) reached: bool,
    pub(super) always: bool,
}

impl Surroundings {
    pub(super) fn of_script() -> Self {
        Self {
            status: Status::Decides,
            inside: Position::Script,
            depth: 0,
            level: 0,
            dialect: Dialect::Bash,
            stdout: Destination::Shown,
            stderr: Destination::Shown,
            wrapped_by: None,
            reached: true,
            always: true,
        }
    }

    /// The surroundings of a part whose failure counts as `status` in the whole.
    pub(super) fn with_status(&self, status: Status) -> Self {
        Self { status: self.status.of_part(status), ..self.clone() }
    }

    /// The surroundings of a part that is only reached if `reached` holds.
    pub(super) fn reached_if(&self, reached: bool) -> Self {
        Self { reached: self.reached && reached, ..self.clone() }
    }

    /// The surroundings of a part that may be skipped, or that runs in a separate shell.
    pub(super) fn perhaps(&self) -> Self {
        Self { always: false, ..self.clone() }
    }

    /// The surroundings one construct deeper.
    pub(super) fn deeper(&self, inside: Position) -> Self {
        // Anything inside a remote command stays remote, and anything inside a function stays in
        // it.
        let keeps = matches!(self.inside, Position::Remote | Position::Function)
            || (inside == Position::Branch && self.inside != Position::Script);
        let inside = if keeps { self.inside } else { inside };
        let always = self.always && inside == self.inside;
        Self { inside, depth: self.depth + 1, always, ..self.clone() }
    }
}

/// The shell that interprets a script, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Bash, and shells that read `((…))` as it does.
    Bash,
    /// `sh`, which may be a shell without arithmetic commands: `((…))` then runs commands.
    Posix,
}

/// State changed by earlier commands of the same shell.
#[derive(Debug, Clone)]
pub(super) struct Shell {
    /// See [`Command::directory`].
    pub(super) directory: Option<String>,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
}

impl Shell {
    pub(super) fn new() -> Self {
        Self { directory: Some(String::new()), errexit: false, pipefail: false }
    }

    /// Applies `cd`, `pushd`, `popd` and `set`.
    pub(super) fn apply(&mut self, command: &Command) {
        match command.program() {
            Some("cd" | "pushd") => {
                let mut words = command
                    .args
                    .iter()
                    .filter(|w| !matches!(w.text.as_str(), "-P" | "-L" | "-e" | "--"));
                let to = words.next();
                self.directory = match (to.map(|w| w.literal()), &self.directory) {
                    (None, _) => Some("~".to_owned()),
                    (Some(Some("-")) | Some(None), _) => None,
                    (Some(Some(to)), from) => join(from.as_deref(), to),
                };
            }
            Some("popd") => self.directory = None,
            Some("set") => self.set(command),
            _ => {}
        }
    }

    fn set(&mut self, command: &Command) {
        let mut named: Option<bool> = None;
        for word in &command.args {
            let text = word.text.as_str();
            if let Some(on) = named.take() {
                match text {
                    "pipefail" => self.pipefail = on,
                    "errexit" => self.errexit = on,
                    _ => {}
                }
                continue;
            }
            let on = text.starts_with('-');
            if text == "--" || !(on || text.starts_with('+')) {
                return;
            }
            if text.contains('e') {
                self.errexit = on;
            }
            if text.ends_with('o') {
                named = Some(on);
            }
        }
    }
}

/// Resolves `to` relative to `from`; `None` if `from` is unknown and `to` is relative.
pub(super) fn join(from: Option<&str>, to: &str) -> Option<String> {
    if to.starts_with(['/', '~']) {
        return Some(tidy(to));
    }
    let from = from?;
    if from.is_empty() { Some(tidy(to)) } else { Some(tidy(&format!("{from}/{to}"))) }
}

/// Removes `.` and `//`, and any `..` together with the name before it.
fn tidy(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." && last != "~" => drop(parts.pop()),
                None if absolute => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}
