use crate::script::{Command, Position, Script};

mod call;
mod compiled;
mod files;
mod javascript;
mod jvm;
mod python;
mod ruby_php;
mod runners;
mod tasks;
mod vcs;

use call::{Call, Found};

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

/// The purpose of an activity. One command can have several: `mvn verify` builds and tests.
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
    /// Deploys something.
    Deploy,
    /// Publishes a package.
    Publish,
    /// Downloads something.
    Fetch,
    /// Another version-control operation.
    VersionControl(Git),
    /// Reads or lists files.
    Read,
}

/// A version-control operation other than a commit or a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Git {
    /// Stages changes.
    Add,
    /// Merges a branch or a pull request.
    Merge,
    /// Rebases.
    Rebase,
    /// Creates or deletes a tag.
    Tag,
    /// Creates a branch.
    BranchCreate,
    /// Deletes or renames a branch.
    BranchChange,
    /// Moves to another commit, or restores files from one.
    Checkout,
    /// Stashes changes or restores them.
    Stash,
    /// Pulls.
    Pull,
    /// Moves the branch or unstages.
    Reset,
    /// Deletes untracked files.
    Clean,
    /// Cherry-picks a commit.
    CherryPick,
    /// Reverts a commit.
    Revert,
    /// Opens a pull request.
    PullRequest,
    /// Shows history or state.
    Inspect,
    /// Anything else.
    Other,
}

/// How much of its scope a runner was asked to cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Everything: nothing on the command line narrows it.
    Whole,
    /// Only the part selected by these words: `-k login`, `tests/test_a.py`.
    Subset(String),
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

/// The families, in the order in which they are asked: the table of all other runners comes last.
const FAMILIES: &[Family] = &[
    vcs::read,
    files::read,
    compiled::read,
    python::read,
    javascript::read,
    jvm::read,
    ruby_php::read,
    tasks::read,
    runners::read,
];

fn of_call(call: &Call<'_>) -> Vec<Found> {
    FAMILIES.iter().find_map(|family| family(call)).unwrap_or_default()
}
