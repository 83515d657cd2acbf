use crate::script::{Command, Position, Script};

mod call;
mod compiled;
mod files;
mod javascript;
mod jvm;
mod programs;
mod python;
mod ruby_php;
mod ship;
mod tasks;
mod vcs;

use call::{Call, Found};

/// Something that a known runner does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// What it does.
    pub kind: ActivityKind,
    /// The runner, as people call it: `cargo test`, `pytest`.
    pub runner: &'static str,
    /// Whether it covers all there is to cover.
    pub scope: Scope,
    /// The position of the command in [`Script::commands`].
    pub command: usize,
}

/// What an activity is for. One command can have several: `mvn verify` builds and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityKind {
    /// Runs tests.
    Test,
    /// Compiles, bundles, packages.
    Build,
    /// Lints, checks types or checks formatting, and changes nothing.
    Lint,
    /// Rewrites files to a style.
    Format,
    /// Makes a commit.
    Commit,
    /// Pushes commits.
    Push,
    /// Installs or updates dependencies and programs.
    Install,
    /// Starts a program of the project.
    Run,
    /// Puts something into service.
    Deploy,
    /// Hands a package to others.
    Publish,
    /// Gets something from the network.
    Fetch,
    /// Another use of version control.
    VersionControl(Git),
    /// Reads files or lists them.
    Read,
}

/// A use of version control that is neither a commit nor a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Git {
    /// Stages changes.
    Add,
    /// Merges a branch or a pull request.
    Merge,
    /// Rebases.
    Rebase,
    /// Makes or deletes a tag.
    Tag,
    /// Makes a branch.
    BranchCreate,
    /// Deletes or renames a branch.
    BranchChange,
    /// Moves to another commit, or restores files from one.
    Checkout,
    /// Puts changes aside or brings them back.
    Stash,
    /// Pulls.
    Pull,
    /// Moves the branch or unstages.
    Reset,
    /// Deletes untracked files.
    Clean,
    /// Takes over a commit.
    CherryPick,
    /// Undoes a commit by another one.
    Revert,
    /// Opens a pull request.
    PullRequest,
    /// Looks at history or state.
    Inspect,
    /// Anything else.
    Other,
}

/// How much of what a runner could cover it was asked to cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Nothing on the command line narrows it.
    Whole,
    /// These words of the command line narrow it: `-k login`, `tests/test_a.py`.
    Subset(String),
}

/// What the known runners in the script do, in the order of the commands.
///
/// Only command positions count: a runner's name in a quoted text, in a file or in an argument of
/// another program is not a run. Bodies of functions that are never called are left out.
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

/// `None` when the program is not one of the family.
type Family = fn(&Call<'_>) -> Option<Vec<Found>>;

/// Families are asked in turn; each knows its own programs.
const FAMILIES: &[Family] = &[
    vcs::read,
    files::read,
    compiled::read,
    python::read,
    javascript::read,
    jvm::read,
    ruby_php::read,
    tasks::read,
    ship::read,
    programs::read,
];

fn of_call(call: &Call<'_>) -> Vec<Found> {
    FAMILIES.iter().find_map(|family| family(call)).unwrap_or_default()
}
