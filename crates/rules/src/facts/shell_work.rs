//! What a shell call did: its runs, how each ended, and what it wrote.

use std::cell::OnceCell;
use std::rc::Rc;

use counterfoil_model::{Family, Outcome, Status};
use counterfoil_shell::{
    Activity, ActivityKind, Command, Doubt, Effect, Git, OutputVerdict, RunSummary, Scope, Script,
    Status as Reach, Word, WordKind, activities, exit_code_in_text, shows_run, stopped_elsewhere,
    summary,
};

use super::arguments::Members;
use crate::prose::sets;

/// What a shell call did.
#[derive(Debug, Default)]
pub(crate) struct ShellWork<'t> {
    /// The command line.
    pub(crate) command: String,
    /// The known runners in it.
    pub(crate) runs: Vec<Run<'t>>,
    /// Paths it wrote, deleted or moved.
    pub(crate) written: Vec<String>,
    /// Whether it deleted or moved something.
    pub(crate) deletes: bool,
    /// Whether it wrote files that it does not name: by a pattern, or by code on the command line.
    pub(crate) writes_unnamed: bool,
    /// Whether it may have restored files.
    pub(crate) restores: bool,
    /// What it did first with the changes in the working tree: shelved them (`true`) or brought
    /// them back.
    pub(crate) shelves: Option<bool>,
    /// Whether it ran database statements that change data.
    pub(crate) changes_data: bool,
    /// Whether it started something with unknown effects.
    pub(crate) opaque: bool,
    /// Whether the shell did not find one of its programs.
    pub(crate) not_found: bool,
    /// Whether it ended with a search that found nothing: `… && grep -r old src`.
    pub(crate) found_nothing: bool,
}

/// One run of a known runner.
#[derive(Debug)]
pub(crate) struct Run<'t> {
    /// The kind of action.
    pub(crate) family: Family,
    /// Whether it runs everything: nothing on the command line restricts it to a part.
    pub(crate) whole: bool,
    /// The program and the runner by their common names: `mypy`, `cargo clippy`.
    pub(crate) names: String,
    kind: ActivityKind,
    outcome: Option<&'t Outcome>,
    /// Whether it is the only thing that the command line does.
    alone: bool,
    /// Whether its exit status is that of the command line.
    decides: bool,
    /// Whether its output is shown.
    visible: bool,
    /// Why the shown output may not be its own, or another program may have run in its place.
    doubt: Option<Doubt>,
    /// The command line, which may itself print what a runner would print.
    line: Rc<str>,
    /// Whether the changes in the working tree were shelved while it ran.
    pub(crate) without_changes: bool,
    /// What runs after it, and only if it succeeded.
    behind: Vec<ActivityKind>,
    end: OnceCell<RunEnd>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// By its exit status or its own words.
    Passed,
    /// By its exit status or its own words.
    Failed,
    /// It had nothing to do: no tests.
    Empty,
    /// It is still running.
    Running,
    /// How it ended is not known: its status was hidden, and it printed nothing.
    Unknown,
}

impl<'t> ShellWork<'t> {
    /// What the command line of a shell call did; `None` if there is none.
    pub(crate) fn new(members: &Members<'_>, outcome: Option<&'t Outcome>) -> Option<Self> {
        let command = command_line(members)?;
        let Ok(script) = Script::parse(&command) else {
            return Some(Self { command, opaque: true, ..Self::default() });
        };
        let found = activities(&script);
        let alone = found.len() == 1;
        let runs = found.iter().enumerate();
        let line: Rc<str> = Rc::from(command.as_str());
        let runs = runs
            .filter_map(|(at, activity)| {
                let behind = found.get(at + 1..).unwrap_or_default();
                let line = Rc::clone(&line);
                Run::new(activity, behind, &script, outcome, alone).map(|run| Run { line, ..run })
            })
            .collect();
        let writes = script.writes();
        let open = |word: &Word| word.kind != WordKind::Literal || word.text == ".";
        let by_code = || script.commands().iter().any(Command::writes_by_code);
        let writes_unnamed = writes.iter().any(|w| open(&w.path)) || by_code();
        let deletes = writes.iter().any(|w| matches!(w.effect, Effect::Deleted | Effect::Moved));
        let written = writes
            .into_iter()
            .map(|w| w.path.text)
            .filter(|path| !path.starts_with("/dev/"))
            .collect();
        let opaque = is_opaque(&script, &found);
        let changes_data = script.commands().iter().any(Command::changes_data);
        let restores = script.commands().iter().any(Command::restores);
        let shelves = script.commands().iter().find_map(Command::shelves);
        let asks = |c: &Command| c.status == Reach::Decides && c.asks();
        let found_nothing = script.commands().len() > 1
            && script.commands().last().is_some_and(asks)
            && outcome.is_some_and(|o| o.exit_code == Some(1) && o.text.trim().is_empty());
        let not_found = outcome.is_some_and(|o| script.commands().iter().any(|c| is_missing(c, o)));
        Some(Self {
            command,
            runs,
            written,
            deletes,
            writes_unnamed,
            restores,
            shelves,
            changes_data,
            opaque,
            not_found,
            found_nothing,
        })
    }
}

impl ShellWork<'_> {
    /// Whether it only read.
    pub(crate) fn only_looks(&self) -> bool {
        let reads = |run: &Run<'_>| matches!(run.family, Family::Read | Family::Search);
        !self.opaque && self.written.is_empty() && self.runs.iter().all(reads)
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

/// Whether the output line that reports how a run went occurs in the command line itself, which may
/// have printed it: `echo "42 passed"`.
pub(crate) fn prints_itself(command: &str, output: &str, said: &RunSummary) -> bool {
    let line = output.get(said.evidence.clone()).unwrap_or_default().trim();
    let tells = line.trim_matches(|c: char| !c.is_alphanumeric());
    tells.len() > 3 && command.contains(tells)
}

impl<'t> Run<'t> {
    fn new(
        activity: &Activity,
        behind: &[Activity],
        script: &Script,
        outcome: Option<&'t Outcome>,
        alone: bool,
    ) -> Option<Self> {
        if outcome.is_some_and(|o| o.refused) {
            return None;
        }
        let doubt = script.doubt(activity.command);
        if doubt == Some(Doubt::NeverStarts) {
            return None;
        }
        let command = script.commands().get(activity.command);
        let wrapper = command.and_then(|c| script.commands().get(c.wrapped_by?));
        if outcome
            .is_some_and(|o| [command, wrapper].into_iter().flatten().any(|c| is_missing(c, o)))
        {
            return None;
        }
        // A build that stopped at another task ran no tests.
        let stopped = |o: &Outcome| stopped_elsewhere(&o.text);
        if activity.kind == ActivityKind::Test
            && outcome
                .is_some_and(|o| stopped(o) && summary(&o.text, activity.kind).passed.is_none())
        {
            return None;
        }
        let decides = |activity: &Activity| {
            let command = script.commands().get(activity.command);
            command.is_some_and(|c| c.status == Reach::Decides)
        };
        let before = script.commands().get(..activity.command).unwrap_or_default();
        // If both decide the exit status, the later one runs only if the earlier one succeeded.
        let next = |later: &&Activity| later.command > activity.command;
        let behind = behind.iter().filter(next).filter(|later| decides(activity) && decides(later));
        Some(Self {
            family: family_of(activity.kind),
            whole: activity.scope == Scope::Whole,
            names: format!("{} {}", command.and_then(Command::program)?, activity.runner),
            kind: activity.kind,
            outcome,
            alone,
            decides: decides(activity) && !script.traps_exit(),
            doubt,
            line: Rc::from(""),
            visible: command.is_some_and(Command::output_visible),
            without_changes: before.iter().rev().find_map(Command::shelves) == Some(true),
            behind: behind.map(|later| later.kind).collect(),
            end: OnceCell::new(),
        })
    }

    /// How it ended.
    pub(crate) fn end(&self) -> RunEnd {
        *self.end.get_or_init(|| self.find_end())
    }

    fn find_end(&self) -> RunEnd {
        let Some(outcome) = self.outcome else { return RunEnd::Unknown };
        let exit = outcome.exit_code.or_else(|| exit_code_in_text(&outcome.text));
        let said = summary(&outcome.text, self.kind);
        // If another program of that name may have run, its output proves nothing.
        if self.doubt == Some(Doubt::Replaced) {
            return RunEnd::Unknown;
        }
        let own = self.doubt.is_none() && !prints_itself(&self.line, &outcome.text, &said);
        let passed_on = || self.behind.iter().any(|kind| shows_run(&outcome.text, *kind));
        match said.verdict {
            Some(OutputVerdict::Failed) => return RunEnd::Failed,
            _ if self.kind != ActivityKind::Test && passed_on() => return RunEnd::Passed,
            _ if outcome.running => return RunEnd::Running,
            _ if outcome.unread => return RunEnd::Unknown,
            _ if said.collected_none => return RunEnd::Empty,
            // Skipped tests do not count as passed.
            Some(OutputVerdict::Passed)
                if said.passed.unwrap_or(0) == 0 && said.skipped > Some(0) =>
            {
                return RunEnd::Empty;
            }
            Some(OutputVerdict::Passed) if own && (!self.alone || exit.is_none_or(|e| e == 0)) => {
                return RunEnd::Passed;
            }
            _ => {}
        }
        // Compilers and linters print nothing on success, and a failure would be visible.
        let silent = matches!(self.kind, ActivityKind::Build | ActivityKind::Lint);
        let seen = silent && self.visible;
        match (exit, outcome.is_error) {
            (Some(0), _) if self.decides || seen => RunEnd::Passed,
            (Some(0), _) => RunEnd::Unknown,
            (Some(_), _) | (None, Some(true)) if self.decides || self.alone => RunEnd::Failed,
            (None, Some(false)) if self.decides => RunEnd::Passed,
            _ => RunEnd::Unknown,
        }
    }
}

/// Whether the shell did not find the program, so that nothing ran.
fn is_missing(command: &Command, outcome: &Outcome) -> bool {
    let Some(program) = command.program() else { return false };
    let missing = |line: &str| {
        let told =
            line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"));
        told.and_then(|told| told.rsplit(' ').next()) == Some(program)
    };
    outcome.exit_code != Some(0)
        && outcome.text.lines().take(20).any(|line| missing(line) || is_missing_task(line))
}

/// "The task "lint" could not be found", "Missing script: "lint"", "no such command: `nextest`":
/// what task runners print about an unknown task.
fn is_missing_task(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    (line.contains("the task ") && line.trim_end().ends_with("could not be found"))
        || ["missing script: ", "no such command: ", "don't know how to build task "]
            .iter()
            .any(|told| line.contains(told))
}

fn family_of(kind: ActivityKind) -> Family {
    match kind {
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
    }
}

/// Whether the script started something with unknown effects.
fn is_opaque(script: &Script, found: &[Activity]) -> bool {
    script.commands().iter().enumerate().any(|(index, command)| {
        if command.is_dynamic() {
            return true;
        }
        let Some(program) = command.program() else { return false };
        // `npx jest`: the inner command decides.
        if script.commands().iter().any(|inner| inner.wrapped_by == Some(index)) {
            return false;
        }
        let known = found.iter().any(|a| a.command == index && a.kind != ActivityKind::Run);
        let writes = script.writes().iter().any(|w| w.command == index);
        !known && !writes && !sets::INERT_PROGRAMS.list.contains(&program)
    })
}

impl RunEnd {
    /// The status of a receipt for this end.
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Passed | Self::Unknown => Status::Completed,
            Self::Failed | Self::Empty => Status::Failed,
            Self::Running => Status::Open,
        }
    }
}
