//! What a shell call did: the runs in it, how each ended, what it wrote.

use countersign_model::{Family, Outcome, Status};
use countersign_shell::{
    Activity, ActivityKind, Command, Effect, Git, OutputVerdict, Scope, Script, Status as Reach,
    activities, exit_code_in_text, summary,
};

use super::arguments::Members;

/// What one shell call did.
#[derive(Debug, Default)]
pub(crate) struct ShellWork {
    /// The command line.
    pub(crate) command: String,
    /// The known runners in it.
    pub(crate) runs: Vec<Run>,
    /// Paths it wrote, deleted or moved.
    pub(crate) written: Vec<String>,
    /// It deleted or moved something.
    pub(crate) deletes: bool,
    /// It started something whose doings are not known.
    pub(crate) opaque: bool,
}

/// One run of a known runner.
#[derive(Debug)]
pub(crate) struct Run {
    /// What kind of action.
    pub(crate) family: Family,
    /// How it ended.
    pub(crate) end: RunEnd,
    /// Nothing on the command line narrows it to a part.
    pub(crate) whole: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// By exit status or by its own words.
    Passed,
    /// By exit status or by its own words.
    Failed,
    /// It found nothing to do: no tests.
    Empty,
    /// It is still running.
    Running,
    /// Nobody can tell: its status was hidden, and it said nothing.
    Unknown,
}

impl ShellWork {
    /// What the command line of a shell call did; `None` when there is none.
    pub(crate) fn of(members: &Members<'_>, outcome: Option<&Outcome>) -> Option<Self> {
        let command = command_line(members)?;
        let Ok(script) = Script::parse(&command) else {
            return Some(Self { command, opaque: true, ..Self::default() });
        };
        let found = activities(&script);
        let exit = outcome.and_then(|o| o.exit_code.or_else(|| exit_code_in_text(&o.text)));
        let ending = Ending { outcome, exit, alone: found.len() == 1 };
        let runs = found.iter().filter_map(|a| run(a, &script, &ending)).collect();
        let writes = script.writes();
        let deletes = writes.iter().any(|w| matches!(w.effect, Effect::Deleted | Effect::Moved));
        let written = writes
            .into_iter()
            .map(|w| w.path.text)
            .filter(|path| !path.starts_with("/dev/"))
            .collect();
        let opaque = is_opaque(&script, &found);
        Some(Self { command, runs, written, deletes, opaque })
    }
}

/// The command line in the arguments of a shell call.
fn command_line(members: &Members<'_>) -> Option<String> {
    for name in ["command", "cmd", "commands", "script", "action"] {
        if let Some(text) = members.text(name) {
            return Some(text.into_owned());
        }
        if let Some(words) = members.words(name) {
            // ["bash", "-lc", "…"]
            let shell = words.first().is_some_and(|w| w.ends_with("sh"));
            let flag = words.get(1).is_some_and(|w| w.starts_with('-') && w.ends_with('c'));
            return Some(match (shell && flag, words.get(2)) {
                (true, Some(inner)) => inner.clone(),
                _ => words.join(" "),
            });
        }
    }
    None
}

struct Ending<'o> {
    outcome: Option<&'o Outcome>,
    exit: Option<i32>,
    alone: bool,
}

fn run(activity: &Activity, script: &Script, ending: &Ending<'_>) -> Option<Run> {
    let family = match activity.kind {
        ActivityKind::Test => Family::Test,
        ActivityKind::Build => Family::Build,
        ActivityKind::Lint => Family::Lint,
        ActivityKind::Commit => Family::Commit,
        ActivityKind::Push => Family::Push,
        ActivityKind::Install => Family::Install,
        ActivityKind::Deploy | ActivityKind::Publish => Family::Deploy,
        ActivityKind::Run => Family::Run,
        ActivityKind::Fetch => Family::Search,
        ActivityKind::Read | ActivityKind::VersionControl(Git::Inspect) => Family::Read,
        ActivityKind::Format => Family::Update,
        ActivityKind::VersionControl(git) => match git {
            Git::PullRequest | Git::BranchCreate | Git::Tag => Family::Create,
            Git::CherryPick | Git::Revert | Git::Merge | Git::Rebase => Family::Commit,
            Git::Reset | Git::Clean | Git::BranchChange => Family::Update,
            _ => Family::Read,
        },
    };
    let command = script.commands().get(activity.command);
    if ending.outcome.is_some_and(|o| o.refused) {
        return None;
    }
    let end = end_of(activity.kind, command, ending);
    Some(Run { family, end, whole: activity.scope == Scope::Whole })
}

fn end_of(kind: ActivityKind, command: Option<&Command>, ending: &Ending<'_>) -> RunEnd {
    let Some(outcome) = ending.outcome else { return RunEnd::Unknown };
    let said = summary(&outcome.text, kind);
    match said.verdict {
        Some(OutputVerdict::Failed) => return RunEnd::Failed,
        _ if outcome.running => return RunEnd::Running,
        _ if said.collected_none => return RunEnd::Empty,
        Some(OutputVerdict::Passed) if !ending.alone || ending.exit.is_none_or(|e| e == 0) => {
            return RunEnd::Passed;
        }
        _ => {}
    }
    let decides = command.is_some_and(|c| c.status == Reach::Decides);
    // Compilers and linters are silent when all is well: had they failed, it would be seen.
    let silent = matches!(kind, ActivityKind::Build | ActivityKind::Lint);
    let seen = silent && command.is_some_and(Command::output_visible);
    match (ending.exit, outcome.is_error) {
        (Some(0), _) if decides || seen => RunEnd::Passed,
        (Some(0), _) => RunEnd::Unknown,
        (Some(_), _) | (None, Some(true)) if decides || ending.alone => RunEnd::Failed,
        (None, Some(false)) if decides => RunEnd::Passed,
        _ => RunEnd::Unknown,
    }
}

/// Programs that do nothing but what their name says, and nothing to the world.
const INERT: [&str; 40] = [
    "cd", "echo", "printf", "true", "false", "test", "[", "[[", "pwd", "export", "set", "sleep",
    "wait", "exit", "which", "type", "date", "env", "local", "read", "shift", "return", "break",
    "continue", "basename", "dirname", "sort", "uniq", "wc", "tr", "cut", "tee", "jq", "diff",
    "xargs", "time", "timeout", "whoami", "uname", "awk",
];

/// Whether the script started something whose doings its words do not tell.
fn is_opaque(script: &Script, found: &[Activity]) -> bool {
    script.commands().iter().enumerate().any(|(index, command)| {
        if command.is_dynamic() {
            return true;
        }
        let Some(program) = command.program() else { return false };
        let known = found.iter().any(|a| a.command == index && a.kind != ActivityKind::Run);
        let writes = script.writes().iter().any(|w| w.command == index);
        !known && !writes && !INERT.contains(&program)
    })
}

impl RunEnd {
    /// The same as a receipt's status.
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Passed | Self::Unknown => Status::Completed,
            Self::Failed | Self::Empty => Status::Failed,
            Self::Running => Status::Open,
        }
    }
}
