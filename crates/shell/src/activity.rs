use crate::script::{Command, Position, Script};

mod call;
mod compiled;
mod files;
mod javascript;
mod jvm;
mod kind;
mod python;
mod ruby_php;
mod runners;
mod tasks;
mod vcs;

pub use kind::{ActivityKind, Git, Scope};

use call::{Call, Found};
use runners::Does;

/// Something that a command does through a known runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The kind of activity.
    pub kind: ActivityKind,
    /// The usual name of the runner: `cargo test`, `pytest`.
    pub runner: &'static str,
    /// Whether it covers everything or only a part.
    pub scope: Scope,
    /// The position of the command in [`Script::commands`].
    pub command: usize,
}

/// The activities of the known runners in the script, in the order of the commands.
///
/// Only command positions count: the name of a runner in quoted text, in a file or in an argument
/// of another program is not a run. Bodies of functions that are never called are ignored.
#[must_use]
pub fn activities(script: &Script) -> Vec<Activity> {
    let mut all = Vec::new();
    for (index, command) in script.commands().iter().enumerate() {
        if command.inside == Position::UnusedFunction {
            continue;
        }
        let wrapper = command
            .wrapped_by
            .and_then(|at| script.commands().get(at))
            .and_then(Command::program)
            .unwrap_or_default();
        for Found { kind, runner, scope } in of_command(command, wrapper) {
            all.push(Activity { kind, runner, scope, command: index });
        }
    }
    all
}

fn of_command(command: &Command, wrapper: &str) -> Vec<Found> {
    let Some(program) = command.program() else { return Vec::new() };
    let call = Call { program, args: &command.args };
    if call.asks_for_help() {
        return Vec::new();
    }
    let found = of_call(&call);
    if !found.is_empty() {
        return found;
    }
    if matches!(wrapper, "hatch" | "pdm" | "rye" | "poetry") {
        return tasks::by_name(program, "project script");
    }
    let path = command.name.as_ref().map(|name| name.text.as_str()).unwrap_or_default();
    files::program_of_the_project(path, &call)
}

/// The activities of a call; `None` if the program does not belong to the family.
type Family = fn(&Call<'_>) -> Option<Vec<Found>>;

/// The families, in the order in which they are tried before the table of all other runners.
const FAMILIES: &[Family] = &[
    vcs::read,
    files::read,
    compiled::read,
    python::read,
    javascript::read,
    jvm::read,
    ruby_php::read,
    tasks::read,
];

fn of_call(call: &Call<'_>) -> Vec<Found> {
    if let Some(found) = FAMILIES.iter().find_map(|family| family(call)) {
        return found;
    }
    match runners::read(call) {
        Some(Does::These(found)) => found,
        Some(Does::As(other)) => of_call(&other),
        None => Vec::new(),
    }
}
