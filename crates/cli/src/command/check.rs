mod known;
mod limits;
mod outcome;
mod recorded;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum as _};
use counterfoil_formats::{Options as ReadOptions, ReadError, Reading, read};
use counterfoil_model::{Agent, Catalog, Finding, Format, Mode, Problem, Severity};
use counterfoil_report::{
    Checked, Claims, Document, Look, Renderer, ReportFormat, Unread, visible,
};
use counterfoil_rules::{Indexed, Report, Settings, feedback, set_aside_feedback};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use self::known::{Known, KnownArguments};
use self::limits::Limits;
use self::outcome::Outcome;
use self::recorded::RecordedArguments;
use crate::agents::{AgentName, Homes, latest};
use crate::catalog::read_catalog;
use crate::choices::{Colour, FailOn, Level, OutputFormat};
use crate::config::{self, CheckOptions};
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::inputs::{Input, inputs};
use crate::judge::{JudgeArguments, Judging};
use crate::outputs;
use crate::rule_names::{Selection, cards, is_judge, metas};
use crate::terminal;

/// The number of files that are checked before their results are written.
const BATCH: usize = 64;

/// Check agent logs: claims against the record, calls against the tool definitions
///
/// Reads logs in many formats (OpenAI, Anthropic, Claude Code, Codex, Gemini CLI, OpenHands,
/// SWE-agent, SpecStory, OpenTelemetry, MCP), optionally compressed with gzip or Zstandard. In a
/// folder, files in unknown formats are skipped and counted.
#[derive(Debug, Args)]
#[command(after_help = [AFTER, RecordedArguments::EXAMPLES].concat())]
pub(crate) struct Arguments {
    /// Files, folders, or - for standard input [default: the newest session of each agent]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Check the newest session of this agent on this machine, or of any agent if none is named;
    /// sessions of the current folder's project come first
    #[arg(long, value_name = "AGENT", num_args = 0..=1, conflicts_with = "paths")]
    latest: Option<Option<AgentName>>,
    #[command(flatten)]
    recorded: RecordedArguments,
    /// Read logs in this format instead of detecting the format
    #[arg(long, alias = "input-format", value_name = "LOG_FORMAT", value_parser = log_formats())]
    from: Option<String>,
    /// A tool list (in OpenAI, Anthropic or MCP format) for logs that do not contain one
    #[arg(long, value_name = "FILE", env = "COUNTERFOIL_TOOLS")]
    tools: Option<PathBuf>,
    /// Run only these rules: codes, names or patterns such as CS01*, separated by commas
    /// (repeatable)
    #[arg(long = "rule", value_name = "RULE", help_heading = "Rules")]
    rules: Vec<String>,
    /// Do not run these rules (repeatable)
    #[arg(long, value_name = "RULE", help_heading = "Rules")]
    ignore: Vec<String>,
    /// Set the mode of some rules (RULE=MODE) or of all: off, shadow, warn or block (repeatable)
    #[arg(long = "mode", value_name = "[RULE=]MODE", help_heading = "Rules")]
    modes: Vec<String>,
    /// Maximum age in seconds of an execution that the agent may cite (CS003); 0 means no limit
    #[arg(long, value_name = "SECONDS", help_heading = "Rules")]
    execution_window: Option<u64>,
    /// Minimum severity to show
    #[arg(long, value_name = "LEVEL", env = "COUNTERFOIL_SEVERITY", help_heading = "Findings")]
    severity: Option<Level>,
    /// Minimum severity for exit code 1
    #[arg(long, value_name = "LEVEL", env = "COUNTERFOIL_FAIL_ON", help_heading = "Findings")]
    fail_on: Option<FailOn>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    known: KnownArguments,
    /// Output format [default: by the extension of the --output file, else text]
    #[arg(
        long,
        value_name = "FORMAT",
        env = "COUNTERFOIL_FORMAT",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    format: Vec<OutputFormat>,
    /// Show every claim with its verdict and evidence
    #[arg(long, help_heading = "Output")]
    show_supported: bool,
    /// Show how each clause of the agent's text was interpreted, and why it was not checked further
    /// (only in the formats text and jsonl)
    #[arg(long, help_heading = "Output", conflicts_with = "statistics")]
    why: bool,
    /// Show counts by rule, model, tool and log format (text and Markdown reports then omit the
    /// findings)
    #[arg(long, help_heading = "Output")]
    statistics: bool,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: Colour,
    /// Print only findings and errors, no summary or progress
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    judge: JudgeArguments,
}

const NOTHING_FOUND: &str = "no transcripts found";
const NOTHING_HELP: &str = "pass a log, or a folder that contains logs in a supported format";

const AFTER: &str = "\
Examples:
  counterfoil check                          the newest session of each agent on this machine
  counterfoil check session.jsonl
  counterfoil check ~/.claude/projects --severity warning
  counterfoil check logs/ --format sarif --output counterfoil.sarif
  counterfoil check chat.json --tools tools.json --mode UNKNOWN_PARAM=off
  counterfoil check logs/ --baseline known.json --write-baseline
  counterfoil check logs/ --baseline known.json --accept FINGERPRINT --reason 'a false alarm'
  counterfoil check logs/ --against yesterday.json
  counterfoil check logs/ --statistics
  counterfoil check session.jsonl --why
  counterfoil check logs/ --format html --output report.html
  counterfoil check --latest claude-code
  counterfoil check session.jsonl --judge claude --opinions opinions.jsonl
  counterfoil check logs/ --judge-batch questions.jsonl
  zcat log.gz | counterfoil check - --format jsonl | jq 'select(.severity) | .message'";

fn log_formats() -> PossibleValuesParser {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
}

pub(crate) fn run(global: &Global, arguments: Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let job = Job::new(&arguments, &options)?;
    let mut inputs = inputs(&arguments.paths);
    if let Some(agent) = arguments.latest {
        inputs.extend(newest(agent)?);
    } else if arguments.paths.is_empty() && !arguments.recorded.has_sessions() {
        inputs.extend(newest_of_each()?);
    }
    inputs.extend(arguments.recorded.inputs(global, &options)?);
    let tools = tools(&arguments, &options.check);
    let also_read = [arguments.recorded.answer(), tools.as_deref(), arguments.judge.read()];
    let also_read = [also_read.as_slice(), &job.known.read()].concat();
    outputs::refuse_inputs(arguments.output.as_deref(), &inputs, &also_read)?;
    outputs::refuse_inputs(arguments.judge.written(), &inputs, &also_read)?;
    let judging = arguments.judge.judging(global, &options)?;
    let job = Job { judging, ..job };
    outputs::refuse_inputs(job.known.written(), &inputs, &[])?;
    match &arguments.output {
        None => job.run(&inputs, BufWriter::new(io::stdout().lock())),
        Some(path) => {
            let file = File::create(path)
                .with_context(|| format!("the output {} cannot be written", path.display()))?;
            job.run(&inputs, BufWriter::new(file))
        }
    }
}

/// The file with the list of tools, from the flag or the configuration.
fn tools(arguments: &Arguments, options: &CheckOptions) -> Option<PathBuf> {
    arguments.tools.clone().or_else(|| options.tools.as_ref().map(PathBuf::from))
}

/// Returns the newest log of each agent that has one; the default if no path is given.
fn newest_of_each() -> anyhow::Result<Vec<Input>> {
    let newest: Vec<_> =
        AgentName::value_variants().iter().map(|agent| newest(Some(*agent))).collect();
    if newest.iter().all(Result::is_err) {
        let help = match io::stdin().is_terminal() {
            true => "pass a log or a folder of logs: `counterfoil check session.jsonl`",
            false => "pass a log or a folder of logs, or `-` to read standard input",
        };
        let wrong = "no path given, and no agent sessions found on this machine";
        return Err(Complaint::new(wrong).help(help).into());
    }
    Ok(newest.into_iter().flatten().flatten().collect())
}

/// Returns the log that `--latest` selects, with those of its sub-agents, and names it on standard
/// error.
fn newest(agent: Option<AgentName>) -> anyhow::Result<Vec<Input>> {
    let here = std::env::current_dir().context("the working directory no longer exists")?;
    let agents = agent.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent.into()]);
    let (log, is_here) = latest(&Homes::from_environment(), &agents, &here)?;
    let whose = if is_here { "" } else { " (no session found for this folder)" };
    let (name, path) = (log.agent.name(), log.path.display());
    let helpers = log.of_sub_agents();
    let with = match helpers.len() {
        0 => String::new(),
        1 => ", with the log of a sub-agent".to_owned(),
        many => format!(", with the logs of {many} sub-agents"),
    };
    writeln!(io::stderr(), "checking the newest session of {name}: {path}{whose}{with}")?;
    Ok(std::iter::once(&log.path).chain(&helpers).map(|path| Input::file(path)).collect())
}

impl Arguments {
    /// The output format: as given, or else as configured or as the output file is named.
    fn format(&self, configured: OutputFormat) -> Result<ReportFormat, Complaint> {
        match self.format.as_slice() {
            [] => {
                let named = self.output.as_deref().and_then(ReportFormat::of_file);
                let named = named.filter(|_| configured == OutputFormat::Text);
                Ok(named.unwrap_or(configured.into()))
            }
            [one] => Ok((*one).into()),
            _ => Err(Complaint::new("one run writes only one format, but several were given")
                .help("run `counterfoil check` once per format, each with its own `--output`")),
        }
    }
}

/// The validated options for checking an input.
struct Job {
    from: Option<Format>,
    catalog: Option<Catalog>,
    settings: Settings,
    renderer: Box<dyn Renderer>,
    least: Severity,
    fail_on: Option<Severity>,
    known: Known,
    limits: Limits,
    quiet: bool,
    statistics: bool,
    /// Whether to show how clauses were read.
    why: bool,
    /// The judge that reads answers, if any.
    judging: Option<Judging>,
    /// Whether feedback for the agent is shown, because `--answer` was given.
    answers: bool,
    /// Whether the summary goes to standard error, because findings are not on standard output.
    apart: bool,
}

impl Job {
    fn new(arguments: &Arguments, options: &config::Options) -> anyhow::Result<Self> {
        let CheckOptions { fail_on, severity, format, show_supported, .. } = &options.check;
        let selection = Selection {
            options,
            modes: &arguments.modes,
            only: &arguments.rules,
            ignored: &arguments.ignore,
        };
        let mut settings = selection.settings()?;
        if let Some(window) = arguments.execution_window {
            settings.execution_window_secs = window;
        }
        let format = arguments.format(*format)?;
        if arguments.why && !matches!(format, ReportFormat::Text | ReportFormat::Jsonl) {
            return Err(Complaint::new("`--why` requires the format text or jsonl")
                .help("add `--format text` or `--format jsonl`")
                .into());
        }
        let tools = tools(arguments, &options.check);
        let known = arguments.known.known(&options.check)?;
        let fingerprints = known.is_used() || arguments.why;
        let fail_on = arguments.fail_on.unwrap_or(*fail_on).severity();
        let fails = fail_on.filter(|_| !known.writes());
        let look = Look { fingerprints, fail_on: fails, ..look(arguments, *show_supported) };
        Ok(Self {
            from: arguments.from.as_deref().and_then(Format::from_name),
            catalog: tools.map(read_catalog).transpose()?,
            settings,
            renderer: format.renderer(look),
            least: arguments.severity.unwrap_or(*severity).into(),
            fail_on,
            known,
            limits: arguments.limits,
            quiet: arguments.quiet,
            statistics: arguments.statistics,
            why: arguments.why,
            judging: None,
            answers: arguments.recorded.answer().is_some(),
            apart: arguments.output.is_some(),
        })
    }

    fn run(&self, inputs: &[Input], out: impl Write) -> anyhow::Result<Exit> {
        let bar = progress(inputs);
        let pool = self.judging.as_ref().map(Judging::pool).transpose()?;
        let mut document = Document::begin(self.renderer.as_ref(), out)?;
        let mut total = Outcome::new(self.statistics);
        for batch in inputs.chunks(BATCH) {
            let work = || batch.par_iter().map(|input| self.work_on(input, &bar)).collect();
            let outcomes: Vec<Outcome> = match &pool {
                Some(pool) => pool.install(work),
                None => work(),
            };
            for outcome in outcomes {
                bar.suspend(|| outcome.fragments.iter().try_for_each(|f| document.push(f)))?;
                total.summary.merge(outcome.summary);
                total.occurred.merge(outcome.occurred);
                total.worst = total.worst.max(outcome.worst);
                total.warnings += outcome.warnings;
                total.unreadable |= outcome.unreadable;
                total.feedback = total.feedback.or(outcome.feedback);
            }
        }
        bar.finish_and_clear();
        if let Some(judging) = &self.judging {
            judging.finish(&mut total.summary)?;
        }
        let runs = |rule: &str| self.runs(rule);
        self.known.finish(&total.occurred, runs, &mut total.summary);
        let fails = self.fails(&mut total);
        document.finish(&total.summary)?;
        if let Some(feedback) = &total.feedback {
            writeln!(io::stderr(), "\nreplacement for the answer:\n\n{feedback}")?;
        }
        if self.apart && !self.quiet {
            for line in [total.summary.line()].into_iter().chain(total.summary.beside()) {
                writeln!(io::stderr(), "{}", visible(&line))?;
            }
        }
        self.exit(&total, fails, inputs)
    }

    /// Whether the findings or a limit fail the run. Notes in the summary why it fails otherwise.
    fn fails(&self, total: &mut Outcome) -> bool {
        let mut failures = Vec::new();
        if total.summary.transcripts == 0 && !total.unreadable {
            failures.push(NOTHING_FOUND.to_owned());
        }
        failures.extend(self.limits.unread(&total.summary));
        total.unreadable |= !failures.is_empty();
        // A run that accepts its findings has no limits, and does not fail because of them.
        let judges = !self.known.writes();
        let worst = self.fail_on.is_some_and(|least| total.worst.is_some_and(|w| w >= least));
        let broken = self.limits.broken(total.warnings, &total.summary);
        let fails = judges && (worst || !broken.is_empty());
        failures.extend(broken.into_iter().filter(|_| judges));
        total.summary.failures = failures;
        fails
    }

    fn exit(&self, total: &Outcome, fails: bool, inputs: &[Input]) -> anyhow::Result<Exit> {
        for failure in &total.summary.failures {
            writeln!(io::stderr(), "error: {}", visible(failure))?;
            if failure == NOTHING_FOUND {
                writeln!(io::stderr(), "  help: {NOTHING_HELP}")?;
            }
        }
        self.known.write(&total.occurred, |rule| self.runs(rule), inputs, self.quiet)?;
        let failed = self.judging.as_ref().and_then(|judging| judging.failed(&total.summary));
        if let Some(why) = &failed {
            let help = "correct this, or check without a judge: `--no-judge`";
            writeln!(io::stderr(), "error: no answer was judged: {why}\n  help: {help}")?;
        }
        Ok(match (total.unreadable || failed.is_some(), fails) {
            (true, _) => Exit::Input,
            (false, true) => Exit::Findings,
            (false, false) => Exit::Clean,
        })
    }

    /// Whether this run reports findings with this code.
    fn runs(&self, code: &str) -> bool {
        if is_judge(code) {
            return self.judging.is_some();
        }
        metas().any(|meta| meta.code.0 == code && self.settings.mode(meta) != Mode::Off)
    }

    /// Reads, checks and renders one input. A transcript is dropped as soon as it is rendered.
    fn work_on(&self, input: &Input, bar: &ProgressBar) -> Outcome {
        let mut outcome = Outcome::new(self.statistics);
        let mut options = ReadOptions::new(input.name());
        options.format = self.from;
        let opened = input.open(|bytes| self.advance(bar, bytes)).map_err(ReadError::Io);
        let read = opened.and_then(|source| {
            read(source, &options, &mut |reading| self.judge(input, reading, &mut outcome))
        });
        match read {
            Ok(summary) => {
                self.unread(input, &summary.problems, false, &mut outcome);
                if let Some(broken) = summary.broken {
                    outcome.unreadable = true;
                    outcome.occurred.cut_off();
                    self.unread(input, &[broken], true, &mut outcome);
                } else if outcome.summary.messages == 0 || summary.misread {
                    // An input in a known format is not clean if nothing in it could be read.
                    let nothing = outcome.summary.nothing_read(summary.format, self.from.is_some());
                    outcome.unreadable |= input.named;
                    self.unread(input, &[nothing], input.named, &mut outcome);
                }
            }
            Err(
                ReadError::UnknownForm { .. }
                | ReadError::OtherKind { .. }
                | ReadError::NotJson(_)
                | ReadError::Empty,
            ) if !input.named => {
                outcome.summary.add_unrecognised(&input.shown);
            }
            Err(error) => {
                outcome.unreadable = true;
                let problem = error.problem_of(&input.shown);
                self.unread(input, &[problem], true, &mut outcome);
            }
        }
        outcome
    }

    fn judge(&self, input: &Input, reading: Reading, outcome: &mut Outcome) {
        let Reading { mut transcript, problems, .. } = reading;
        set_aside_feedback(&mut transcript);
        if let Some(catalog) = self.catalog.as_ref().filter(|_| !transcript.catalog.is_known()) {
            transcript.catalog = catalog.clone();
        }
        let indexed = Indexed::new(&transcript);
        let Report { mut findings, judgements, mut counts } = indexed.check_from(&self.settings, 0);
        if let Some(judging) = &self.judging {
            let (judged, read) = judging.judge(&transcript, &mut findings);
            if judged.unjudged_count() > 0 {
                outcome.occurred.left_unjudged(&transcript);
            }
            outcome.summary.judged.get_or_insert_default().merge(judged);
            counts.add_read(&read, &findings);
        }
        let readings = if self.why { indexed.readings(&self.settings) } else { Vec::new() };
        let all = findings.len();
        let (mut findings, unchanged, accepted) =
            self.known.new_of((&input.shown, &transcript), findings, self.least, outcome);
        let known = all - findings.len();
        outcome.summary.unchecked_calls += counts.unchecked_calls;
        outcome.summary.unread_answers += counts.unread_answers;
        outcome.summary.foreign_answers += counts.foreign_answers;
        outcome.summary.without_tools += usize::from(counts.lacks_tools);
        let last = transcript.messages.len().saturating_sub(1);
        let latest: Vec<Finding> = findings.iter().filter(|f| f.turn == last).cloned().collect();
        if self.answers && latest.iter().any(|finding| finding.severity == Severity::Error) {
            outcome.feedback = Some(feedback(&latest));
        }
        outcome.worst = outcome.worst.max(findings.iter().map(|f| f.severity).max());
        outcome.warnings += findings.iter().filter(|f| f.severity == Severity::Warning).count();
        let before = findings.len();
        findings.retain(|finding| finding.severity >= self.least);
        outcome.summary.hidden += before - findings.len();
        let checked = Checked {
            path: &input.shown,
            transcript: &transcript,
            findings: &findings,
            unchanged: unchanged.as_deref(),
            judgements: &judgements,
            readings: &readings,
            claims: Claims::from_counts(&counts.claims),
            known,
            accepted: &accepted,
        };
        outcome.fragments.push(self.renderer.transcript(&checked));
        outcome.summary.add(&checked);
        self.unread(input, &problems, false, outcome);
    }

    fn unread(&self, input: &Input, problems: &[Problem], fatal: bool, outcome: &mut Outcome) {
        if !problems.is_empty() {
            let unread = Unread { path: &input.shown, problems, fatal };
            outcome.fragments.push(self.renderer.unread(&unread));
            outcome.summary.add_unread(&unread);
        }
    }

    /// Advances the progress bar by `bytes`. The bar appears on a terminal once the work takes a
    /// while.
    fn advance(&self, bar: &ProgressBar, bytes: usize) {
        bar.inc(u64::try_from(bytes).unwrap_or_default());
        let slow = bar.elapsed() > Duration::from_secs(1);
        if slow && bar.is_hidden() && !self.quiet && io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        }
    }
}

/// The options for rendering.
fn look(arguments: &Arguments, show_supported: bool) -> Look {
    let on_terminal = arguments.output.is_none();
    Look {
        colour: on_terminal && terminal::colours(arguments.color),
        width: if on_terminal { terminal::width() } else { 0 },
        show_supported: arguments.show_supported || show_supported,
        why: arguments.why,
        statistics: arguments.statistics,
        fingerprints: false,
        fail_on: None,
        quiet: arguments.quiet,
        version: env!("CARGO_PKG_VERSION"),
        root: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        rules: cards(),
    }
}

/// Creates a hidden progress bar over the bytes of all inputs; [`Job::advance`] shows it.
fn progress(inputs: &[Input]) -> ProgressBar {
    let bytes = inputs.iter().map(Input::bytes).sum::<Option<u64>>();
    let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
    let shape = match bytes {
        Some(_) => "{bar:30.cyan} {bytes} of {total_bytes}, {eta} left",
        None => "{spinner} {bytes} read",
    };
    match ProgressStyle::with_template(shape) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
