//! Runs of known programs (checks and version control), and how each ended.

use counterfoil_shell::{
    Activity, ActivityKind, Command, Doubt, Git, Masking, OutputVerdict, RunSummary, Scope, Script,
    Status, Word, activities, commit_of, shows_run, stopped_elsewhere, summary,
};

use crate::lists::TYPE_CHECKERS;

/// The kind of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// Tests.
    Tests,
    /// A build or a compiler.
    Build,
    /// A linter or a format check.
    Lint,
    /// A type checker.
    Types,
}

impl CheckKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Tests, Self::Build, Self::Lint, Self::Types];

    /// The display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Build => "build",
            Self::Lint => "lint",
            Self::Types => "type check",
        }
    }
}

/// The purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunKind {
    /// A check.
    Check(CheckKind),
    /// Created a commit, or copied one over.
    Commit,
    /// Pushed commits.
    Push,
    /// Opened a pull request.
    PullRequest,
    /// Another version-control operation: a merge, a rebase, a tag, a reset.
    VersionControl,
    /// Started a program that may do anything, or could not be analysed.
    Program,
}

/// How much of its scope a runner was asked to cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// Everything: no argument narrows it.
    Whole,
    /// Only the part selected by these words: `-k login`.
    Partial(String),
    /// Unknown.
    Unknown,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunEnd {
    /// Passed, according to its exit status or its own report.
    Passed,
    /// Failed, according to its exit status or its own report.
    Failed,
    /// It found nothing to run, such as no tests.
    Empty,
    /// It was still running, or its result is not recorded.
    Unfinished,
    /// Its status was hidden, and it printed no report.
    Unknown,
}

/// The report that a runner printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Tests that passed.
    pub passed: Option<u64>,
    /// Tests that failed.
    pub failed: Option<u64>,
    /// Errors.
    pub errors: Option<u64>,
    /// Tests that were skipped.
    pub skipped: Option<u64>,
    /// The runner says that it found no tests.
    pub collected_none: bool,
}

/// One run of a known program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The purpose of the run.
    pub kind: RunKind,
    /// The command without its wrappers: `cargo test -p api`.
    pub command: String,
    /// How much it was asked to cover.
    pub coverage: Coverage,
    /// The exit status of the whole command line.
    pub exit: Option<i32>,
    /// Why that status does not show how the run ended: `a pipe`, `||`, `a later command`.
    pub hidden_by: Option<&'static str>,
    /// The report it printed.
    pub report: Report,
    /// How it ended.
    pub end: RunEnd,
    /// The hash of the commit it made, as printed.
    pub commit: Option<String>,
}

/// The result of calling a command line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Output<'o> {
    /// What it printed.
    pub text: &'o str,
    /// Its exit status.
    pub exit: Option<i32>,
    /// Whether the log marks it as an error; `None` if the log does not say.
    pub is_error: Option<bool>,
    /// Whether it was still running.
    pub running: bool,
    /// Whether it was refused, so that it never ran.
    pub refused: bool,
    /// Whether the field that says how it ended was not understood.
    pub unread: bool,
}

const RUNS: &[&str] = &["run", "execute", "start"];

/// Tools that run something, recognised by a verb and a noun in their names.
const TOOLS: [(&[&str], &[&str], RunKind); 5] = [
    (RUNS, &["test", "tests", "pytest"], RunKind::Check(CheckKind::Tests)),
    (RUNS, &["build", "compile"], RunKind::Check(CheckKind::Build)),
    (RUNS, &["lint", "linter"], RunKind::Check(CheckKind::Lint)),
    (RUNS, &["typecheck"], RunKind::Check(CheckKind::Types)),
    (&["create", "open"], &["pull", "pr"], RunKind::PullRequest),
];

/// Maximum length of a displayed command.
const LONGEST_COMMAND: usize = 160;

impl Run {
    /// The runs of a command line. `script` is the part that could be parsed; `output` is `None` if
    /// no result is recorded.
    pub(crate) fn of_line(
        line: &str,
        script: Option<&Script>,
        output: Option<Output<'_>>,
    ) -> Vec<Self> {
        if output.is_some_and(|output| output.refused) {
            return Vec::new();
        }
        let found = script.map(activities).unwrap_or_default();
        let read = |at| Self::of_activity(&found, at, line, script?, output);
        let mut runs: Vec<Self> = (0..found.len()).filter_map(read).collect();
        let dynamic = |script: &Script| script.commands().iter().any(Command::is_dynamic);
        if script.is_none_or(|script| dynamic(script) || !script.unread().is_empty()) {
            runs.push(Self {
                kind: RunKind::Program,
                command: clipped(line),
                coverage: Coverage::Unknown,
                exit: output.and_then(|output| output.exit),
                hidden_by: None,
                report: Report::default(),
                end: output.map_or(RunEnd::Unfinished, |_| RunEnd::Unknown),
                commit: None,
            });
        }
        runs
    }

    fn of_activity(
        found: &[Activity],
        at: usize,
        line: &str,
        script: &Script,
        output: Option<Output<'_>>,
    ) -> Option<Self> {
        let activity = found.get(at)?;
        let command = script.commands().get(activity.command)?;
        let kind = kind_of(activity.kind, activity.runner, command.program().unwrap_or_default())?;
        let started = Started::new(script, found, at, output)?;
        let text = output.map_or("", |output| output.text);
        let run_summary = summary(text, activity.kind);
        Some(Self {
            kind,
            command: shown(command),
            coverage: match &activity.scope {
                Scope::Whole => Coverage::Whole,
                Scope::Subset(words) => Coverage::Partial(clipped(words)),
            },
            exit: output.and_then(|output| output.exit),
            hidden_by: hidden_by(command.status),
            report: Report::from_summary(&run_summary),
            end: output
                .map_or(RunEnd::Unfinished, |output| started.end(line, output, &run_summary)),
            commit: commit_of(text).filter(|_| kind == RunKind::Commit).map(str::to_owned),
        })
    }

    /// The run made by a tool with these words in its name: `run_tests`, `create_pull_request`.
    pub(crate) fn of_tool(
        tool: &str,
        words: &[String],
        no_arguments: bool,
        output: Option<Output<'_>>,
        failed: bool,
    ) -> Option<Self> {
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let named = |verbs: &[&str]| has(verbs) || (words.len() == 1 && verbs == RUNS);
        let mut known = TOOLS.iter();
        let (_, _, kind) = known.find(|(verbs, things, _)| named(verbs) && has(things))?;
        let kind = *kind;
        let output = output.filter(|output| !output.refused);
        let text = output.map_or("", |output| output.text);
        let run_summary = summary(text, activity_of(kind));
        let end = match (output, run_summary.verdict) {
            (None, _) => RunEnd::Unfinished,
            (Some(output), _) if output.running => RunEnd::Unfinished,
            (_, Some(OutputVerdict::Failed)) => RunEnd::Failed,
            _ if failed => RunEnd::Failed,
            _ if run_summary.collected_none => RunEnd::Empty,
            (_, Some(OutputVerdict::Passed)) => RunEnd::Passed,
            (Some(output), None) if output.exit == Some(0) => RunEnd::Passed,
            _ if kind == RunKind::PullRequest => RunEnd::Passed,
            _ => RunEnd::Unknown,
        };
        Some(Self {
            kind,
            command: tool.to_owned(),
            coverage: if no_arguments { Coverage::Whole } else { Coverage::Unknown },
            exit: output.and_then(|output| output.exit),
            hidden_by: None,
            report: Report::from_summary(&run_summary),
            end,
            commit: None,
        })
    }

    /// Updates a background run with what a later look at its output shows.
    pub(crate) fn continued(&self, output: Output<'_>) -> Option<Self> {
        let run_summary = summary(output.text, activity_of(self.kind));
        let end = match (run_summary.verdict, output.exit) {
            (Some(OutputVerdict::Failed), _) => RunEnd::Failed,
            _ if output.running => return None,
            (_, Some(code)) if code != 0 => RunEnd::Failed,
            (Some(OutputVerdict::Passed), _) => RunEnd::Passed,
            (None, Some(_)) if self.hidden_by.is_none() => RunEnd::Passed,
            _ => return None,
        };
        let report = Report::from_summary(&run_summary);
        Some(Self { end, report, exit: output.exit.or(self.exit), ..self.clone() })
    }
}

impl Report {
    fn from_summary(run_summary: &RunSummary) -> Self {
        Self {
            passed: run_summary.passed,
            failed: run_summary.failed,
            errors: run_summary.errors,
            skipped: run_summary.skipped,
            collected_none: run_summary.collected_none,
        }
    }
}

/// A known program that a command line started, and how much shows how it ended.
#[derive(Debug)]
pub struct Started {
    kind: ActivityKind,
    /// Whether its exit status is that of the command line.
    decides: bool,
    /// Whether it is the only known program of the command line.
    alone: bool,
    /// Whether its output is visible.
    visible: bool,
    /// Why the visible output may not be its own, or another program may have run in its place.
    doubt: Option<Doubt>,
    /// What runs after it, and only if it succeeded.
    followed_by: Vec<ActivityKind>,
}

impl Started {
    /// One of the activities that were found in a script; `None` if it certainly did not start.
    #[must_use]
    pub fn new(
        script: &Script,
        found: &[Activity],
        at: usize,
        output: Option<Output<'_>>,
    ) -> Option<Self> {
        let activity = found.get(at)?;
        let (kind, command) = (activity.kind, script.commands().get(activity.command)?);
        let doubt = script.doubt(activity.command);
        // A build that stopped at another task ran no tests.
        let stopped = |text: &str| {
            kind == ActivityKind::Test
                && stopped_elsewhere(text)
                && summary(text, kind).passed.is_none()
        };
        let missing = |output: Output<'_>| is_missing(command, output) || stopped(output.text);
        if doubt == Some(Doubt::NeverStarts) || output.is_some_and(missing) {
            return None;
        }
        let decides = |activity: &Activity| {
            let command = script.commands().get(activity.command);
            command.is_some_and(|command| command.status == Status::Decides)
        };
        let later = found.get(at + 1..).unwrap_or_default().iter();
        let later = later.filter(|next| next.command > activity.command);
        // If both decide the exit status, the later one runs only if the earlier one succeeded.
        let followed_by = later.filter(|next| decides(activity) && decides(next));
        Some(Self {
            kind,
            decides: decides(activity) && !script.traps_exit(),
            alone: found.len() == 1,
            visible: command.output_visible(),
            doubt,
            followed_by: followed_by.map(|next| next.kind).collect(),
        })
    }

    /// How it ended. `line` is the whole command line, and `run_summary` what the output reports
    /// about it.
    #[must_use]
    pub fn end(&self, line: &str, output: Output<'_>, run_summary: &RunSummary) -> RunEnd {
        // If another program of that name may have run, its output proves nothing.
        if self.doubt == Some(Doubt::Replaced) {
            return RunEnd::Unknown;
        }
        if let Some(end) = self.by_report(line, output, run_summary) {
            return end;
        }
        // Compilers and linters print nothing on success, and a failure would be visible.
        let silent = matches!(self.kind, ActivityKind::Build | ActivityKind::Lint) && self.visible;
        match (output.exit, output.is_error) {
            (Some(0), _) if self.decides || silent => RunEnd::Passed,
            (Some(0), _) => RunEnd::Unknown,
            (Some(_), _) | (None, Some(true)) if self.decides || self.alone => RunEnd::Failed,
            (None, Some(false)) if self.decides => RunEnd::Passed,
            _ => RunEnd::Unknown,
        }
    }

    fn by_report(
        &self,
        line: &str,
        output: Output<'_>,
        run_summary: &RunSummary,
    ) -> Option<RunEnd> {
        // Skipped tests do not count as passed.
        let all_skipped = run_summary.passed.unwrap_or(0) == 0 && run_summary.skipped > Some(0);
        let clean = !self.alone || output.exit.is_none_or(|exit| exit == 0);
        let own = || self.doubt.is_none() && !prints_itself(line, output.text, run_summary);
        let went_on = || self.followed_by.iter().any(|next| shows_run(output.text, *next));
        match run_summary.verdict {
            Some(OutputVerdict::Failed) => Some(RunEnd::Failed),
            _ if self.kind != ActivityKind::Test && went_on() => Some(RunEnd::Passed),
            _ if output.running => Some(RunEnd::Unfinished),
            _ if output.unread => Some(RunEnd::Unknown),
            _ if run_summary.collected_none => Some(RunEnd::Empty),
            Some(OutputVerdict::Passed) if all_skipped => Some(RunEnd::Empty),
            Some(OutputVerdict::Passed) if clean && own() => Some(RunEnd::Passed),
            _ => None,
        }
    }
}

fn kind_of(kind: ActivityKind, runner: &str, program: &str) -> Option<RunKind> {
    let types = TYPE_CHECKERS.iter().any(|known| *known == program || runner.starts_with(known));
    Some(match kind {
        ActivityKind::Test => RunKind::Check(CheckKind::Tests),
        ActivityKind::Build | ActivityKind::Lint if types => RunKind::Check(CheckKind::Types),
        ActivityKind::Build => RunKind::Check(CheckKind::Build),
        ActivityKind::Lint => RunKind::Check(CheckKind::Lint),
        ActivityKind::Commit => RunKind::Commit,
        ActivityKind::Push => RunKind::Push,
        ActivityKind::VersionControl(git) => match git {
            Git::PullRequest => RunKind::PullRequest,
            Git::CherryPick | Git::Revert => RunKind::Commit,
            Git::Inspect | Git::Add | Git::Other => return None,
            _ => RunKind::VersionControl,
        },
        ActivityKind::Run => RunKind::Program,
        _ => return None,
    })
}

fn activity_of(kind: RunKind) -> ActivityKind {
    match kind {
        RunKind::Check(CheckKind::Tests) => ActivityKind::Test,
        RunKind::Check(CheckKind::Build) => ActivityKind::Build,
        RunKind::Check(CheckKind::Lint | CheckKind::Types) => ActivityKind::Lint,
        RunKind::Commit => ActivityKind::Commit,
        RunKind::Push => ActivityKind::Push,
        RunKind::PullRequest => ActivityKind::VersionControl(Git::PullRequest),
        RunKind::VersionControl => ActivityKind::VersionControl(Git::Other),
        RunKind::Program => ActivityKind::Run,
    }
}

fn hidden_by(status: Status) -> Option<&'static str> {
    let Status::Masked(masking) = status else { return None };
    Some(match masking {
        Masking::Pipe => "a pipe",
        Masking::Sequence => "a later command",
        Masking::Fallback => "`||`",
        Masking::Background => "running in the background",
        Masking::Negated => "`!`",
        Masking::Substitution => "a substitution",
        Masking::Condition => "a condition",
        Masking::Loop => "a loop",
        Masking::Wrapper => "the program that started it",
    })
}

fn shown(command: &Command) -> String {
    let written =
        command.name.as_ref().and_then(Word::literal).filter(|name| name.starts_with("./"));
    let name = written.or(command.program()).unwrap_or_default();
    let words = command.args.iter().map(|word| word.text.as_str());
    let all: Vec<&str> = std::iter::once(name).chain(words).collect();
    clipped(&all.join(" "))
}

/// A command on one line, shortened for display.
fn clipped(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    match line.get(line.floor_char_boundary(LONGEST_COMMAND)..) {
        Some("") | None => line,
        Some(_) => {
            let cut = line.floor_char_boundary(LONGEST_COMMAND);
            format!("{}…", line.get(..cut).unwrap_or_default())
        }
    }
}

/// Whether the line that looks like a report is part of the command line: `echo "42 passed"`.
#[must_use]
pub fn prints_itself(line: &str, text: &str, run_summary: &RunSummary) -> bool {
    let report = text.get(run_summary.evidence.clone()).unwrap_or_default();
    let report = report.trim_matches(|c: char| !c.is_alphanumeric());
    report.len() > 3 && line.contains(report)
}

/// Whether the shell or a task runner reported that there is no such program.
#[must_use]
pub fn is_missing(command: &Command, output: Output<'_>) -> bool {
    let Some(program) = command.program() else { return false };
    let unknown_task = |line: &str| {
        let line = line.to_ascii_lowercase();
        ["missing script: ", "no such command: ", "don't know how to build task "]
            .iter()
            .any(|message| line.contains(message))
    };
    output.exit != Some(0)
        && output.text.lines().take(20).any(|line| {
            let before = line.strip_suffix(": command not found");
            let before = before.or_else(|| line.strip_suffix(": not found"));
            let missing = before.and_then(|before| before.rsplit(' ').next()) == Some(program);
            missing || unknown_task(line)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_runs(line: &str, exit: Option<i32>, text: &str) -> String {
        let output = Output { text, exit, ..Output::default() };
        let script = Script::parse(line).ok();
        let one = |run: &Run| {
            let hidden = run.hidden_by.map(|by| format!(" hidden by {by}")).unwrap_or_default();
            format!("{:?} `{}` {:?}{hidden}", run.kind, run.command, run.end)
        };
        let runs = Run::of_line(line, script.as_ref(), Some(output));
        runs.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn runs_end() {
        for (line, exit, text, expected) in [
            ("cargo test -p api", Some(101), "", "Check(Tests) `cargo test -p api` Failed"),
            ("cargo test", Some(0), "", "Check(Tests) `cargo test` Passed"),
            (
                "pytest -q | tail -1",
                Some(0),
                "3 failed, 2 passed in 1s",
                "Check(Tests) `pytest -q` Failed hidden by a pipe",
            ),
            ("pytest -q || true", Some(0), "", "Check(Tests) `pytest -q` Unknown hidden by `||`"),
            (
                "pytest; echo done",
                Some(0),
                "done",
                "Check(Tests) `pytest` Unknown hidden by a later command",
            ),
            ("mypy src", Some(0), "", "Check(Types) `mypy src` Passed"),
            (
                "npx tsc --noEmit && npm run lint",
                Some(0),
                "",
                "Check(Types) `tsc --noEmit` Passed; Check(Lint) `npm run lint` Passed",
            ),
            (
                "git commit -m x",
                Some(1),
                "nothing to commit, working tree clean",
                "Commit `git commit -m x` Failed",
            ),
            (
                "pytest -k nope",
                Some(5),
                "no tests ran in 0.01s",
                "Check(Tests) `pytest -k nope` Empty",
            ),
            ("pytest", Some(127), "bash: pytest: command not found", ""),
            ("echo pytest", Some(0), "5 passed", ""),
            ("if [ x", Some(0), "", "Program `if [ x` Unknown"),
            ("$RUNNER --all", Some(0), "", "Program `$RUNNER --all` Unknown"),
        ] {
            assert_eq!(shown_runs(line, exit, text), expected, "{line}");
        }
    }

    #[test]
    fn tools_run_checks() {
        let output = |text| Some(Output { text, ..Output::default() });
        for (tool, text, failed, expected) in [
            ("run_tests", "2 passed, 1 failed in 0.1s", false, Some(RunEnd::Failed)),
            ("run_tests", "3 passed in 0.1s", false, Some(RunEnd::Passed)),
            ("run_tests", "{}", true, Some(RunEnd::Failed)),
            ("runBuild", "ok?", false, Some(RunEnd::Unknown)),
            ("get_test_results", "", false, None),
            ("create_pull_request", r#"{"number":4}"#, false, Some(RunEnd::Passed)),
        ] {
            let words = crate::arguments::words_of(tool);
            let run = Run::of_tool(tool, &words, true, output(text), failed);
            assert_eq!(run.map(|run| run.end), expected, "{tool} {text}");
        }
    }
}
