//! What a shell call did: its runs, how each ended, and what it wrote.

use std::cell::OnceCell;
use std::rc::Rc;

use counterfoil_model::{Family, Outcome};
use counterfoil_record::{Output, RunEnd, Started, is_missing};
use counterfoil_shell::{
    Activity, ActivityKind, Command, Effect, Git, Scope, Script, Status, Word, WordKind,
    activities, exit_code_in_text, summary,
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
    /// Whether the changes in the working tree were shelved while it ran.
    pub(crate) without_changes: bool,
    kind: ActivityKind,
    started: Started,
    outcome: Option<&'t Outcome>,
    /// The command line, which may itself print what a runner would print.
    line: Rc<str>,
    end: OnceCell<RunEnd>,
}

impl<'t> ShellWork<'t> {
    /// What the command line of a shell call did; `None` if there is none.
    pub(crate) fn new(members: &Members<'_>, outcome: Option<&'t Outcome>) -> Option<Self> {
        let command = command_line(members)?;
        let Ok(script) = Script::parse(&command) else {
            return Some(Self { command, opaque: true, ..Self::default() });
        };
        let found = activities(&script);
        let line: Rc<str> = Rc::from(command.as_str());
        let runs = (0..found.len()).filter_map(|at| Run::new(&script, &found, at, &line, outcome));
        let (commands, writes) = (script.commands(), script.writes());
        let open = |word: &Word| word.kind != WordKind::Literal || word.text == ".";
        let asks = |c: &Command| c.status == Status::Decides && c.asks();
        Some(Self {
            command,
            runs: runs.collect(),
            deletes: writes.iter().any(|w| matches!(w.effect, Effect::Deleted | Effect::Moved)),
            writes_unnamed: writes.iter().any(|w| open(&w.path)) || script.changes_unnamed(),
            restores: commands.iter().any(Command::restores),
            shelves: commands.iter().find_map(Command::shelves),
            changes_data: commands.iter().any(Command::changes_data),
            opaque: is_opaque(&script, &found),
            not_found: outcome.is_some_and(|o| commands.iter().any(|c| was_missing(c, o))),
            found_nothing: commands.len() > 1
                && commands.last().is_some_and(asks)
                && outcome.is_some_and(|o| o.exit_code == Some(1) && o.text.trim().is_empty()),
            written: writes
                .into_iter()
                .map(|w| w.path.text)
                .filter(|path| !path.starts_with("/dev/"))
                .collect(),
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

impl<'t> Run<'t> {
    fn new(
        script: &Script,
        found: &[Activity],
        at: usize,
        line: &Rc<str>,
        outcome: Option<&'t Outcome>,
    ) -> Option<Self> {
        let started = Started::new(script, found, at, outcome.map(output_of))?;
        let activity = found.get(at)?;
        let command = script.commands().get(activity.command)?;
        let wrapper = command.wrapped_by.and_then(|at| script.commands().get(at));
        let missing =
            |o: &Outcome| was_missing(command, o) || wrapper.is_some_and(|w| was_missing(w, o));
        if outcome.is_some_and(|o| o.refused || missing(o)) {
            return None;
        }
        let before = script.commands().get(..activity.command).unwrap_or_default();
        Some(Self {
            family: family_of(activity.kind),
            whole: activity.scope == Scope::Whole,
            names: format!("{} {}", command.program()?, activity.runner),
            without_changes: before.iter().rev().find_map(Command::shelves) == Some(true),
            kind: activity.kind,
            started,
            outcome,
            line: Rc::clone(line),
            end: OnceCell::new(),
        })
    }

    /// How it ended.
    pub(crate) fn end(&self) -> RunEnd {
        *self.end.get_or_init(|| {
            let Some(outcome) = self.outcome else { return RunEnd::Unknown };
            let exit = outcome.exit_code.or_else(|| exit_code_in_text(&outcome.text));
            let run_summary = summary(&outcome.text, self.kind);
            self.started.end(&self.line, Output { exit, ..output_of(outcome) }, &run_summary)
        })
    }
}

/// The result of a call, as that of its command line.
fn output_of(outcome: &Outcome) -> Output<'_> {
    let Outcome { text, exit_code, is_error, running, refused, unread, .. } = outcome;
    let (exit, is_error, running) = (*exit_code, *is_error, *running);
    Output { text, exit, is_error, running, refused: *refused, unread: *unread }
}

/// Whether the shell or a task runner did not find the program, so that nothing ran: also "The task
/// "lint" could not be found".
fn was_missing(command: &Command, outcome: &Outcome) -> bool {
    let no_task = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.contains("the task ") && line.trim_end().ends_with("could not be found")
    };
    is_missing(command, output_of(outcome))
        || command.program().is_some()
            && outcome.exit_code != Some(0)
            && outcome.text.lines().take(20).any(no_task)
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
