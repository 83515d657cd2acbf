use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

use clap::{Args, ValueEnum};
use counterfoil_judge::{BatchForm, Grading, Judge, ReadingOptions};
use counterfoil_judges::{NotStarted, ProgramJudge};
use counterfoil_redact::Redactor;

use super::Judging;
use super::opinions::{Batch, Keeper};
use crate::config::{JudgeOptions, Options};
use crate::exit::{Complaint, note};
use crate::global::Global;

/// The flags of `check` about a judge.
#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// Have a language model read every answer that ends a turn: claude, codex or gemini (the
    /// programs), a name from [[llm.providers]], or auto. Sends the session to that model, with
    /// secrets removed
    #[arg(long, value_name = "NAME", help_heading = "Judge")]
    judge: Option<String>,
    /// Do not use a judge, even if one is configured
    #[arg(long, conflicts_with_all = ["judge", "opinions", "judge_batch"], help_heading = "Judge")]
    no_judge: bool,
    /// File with earlier opinions (JSON Lines or batch results). With `--judge`, new opinions are
    /// added to it; without `--judge`, no judge is used
    #[arg(long, value_name = "FILE", help_heading = "Judge")]
    opinions: Option<PathBuf>,
    /// Do not ask a judge: write the unanswered questions to a file for a batch API
    #[arg(long, value_name = "FILE", conflicts_with = "judge", help_heading = "Judge")]
    judge_batch: Option<PathBuf>,
    /// The format of the batch file
    #[arg(
        long,
        alias = "batch-form",
        value_name = "FORMAT",
        default_value = "openai",
        requires = "judge_batch",
        help_heading = "Judge"
    )]
    batch_format: BatchFormName,
    /// The model for the questions in the batch file
    #[arg(long, value_name = "MODEL", requires = "judge_batch", help_heading = "Judge")]
    batch_model: Option<String>,
    /// Obsolete: no rule reports suspected answers any more
    #[arg(long, hide = true)]
    suspected: bool,
}

impl Judging {
    /// Creates the named judge, without kept opinions.
    pub(crate) fn named(name: &str, options: &Options) -> anyhow::Result<Self> {
        let time = Duration::from_secs(options.judge.timeout_secs.max(1));
        Ok(Self::new(Some(judge(name, options, time)?), Keeper::none(), &options.judge)?)
    }

    /// Creates the configured judge, or one found on this machine.
    #[cfg(feature = "guard")]
    pub(crate) fn configured(options: &Options, time: Duration) -> anyhow::Result<Self> {
        let own = &options.judge;
        let named = if own.name.is_empty() && own.command.is_empty() { "auto" } else { &own.name };
        Ok(Self::new(Some(judge(named, options, time)?), Keeper::none(), own)?)
    }

    /// Creates the judge that reads answers in addition to the rules, if the user wants one.
    #[cfg(feature = "guard")]
    pub(crate) fn answer_judge(
        options: &Options,
        wanted: bool,
    ) -> anyhow::Result<Option<std::sync::Arc<dyn counterfoil_judge::AnswerJudge>>> {
        let time = Duration::from_secs(options.judge.timeout_secs.max(1));
        let judging = wanted.then(|| Self::configured(options, time)).transpose()?;
        Ok(judging.map(|judging| std::sync::Arc::new(judging) as _))
    }

    fn new(
        judge: Option<Box<dyn Judge>>,
        opinions: Keeper,
        own: &JudgeOptions,
    ) -> Result<Self, Complaint> {
        Ok(Self {
            opinions,
            judge,
            batch: None,
            options: own.reading()?,
            redactor: Redactor::standard(),
            concurrency: own.concurrency.clamp(1, 64),
            tokens: AtomicU64::new(0),
            fresh: Mutex::default(),
            room: AtomicUsize::new(if own.max_answers == 0 { usize::MAX } else { own.max_answers }),
        })
    }
}

impl JudgeOptions {
    /// Whether this name means the user's own program.
    fn is_command(&self, named: &str) -> bool {
        !self.command.is_empty() && ["", "auto"].contains(&named)
    }

    fn reading(&self) -> Result<ReadingOptions, Complaint> {
        let threshold = self.threshold;
        if !(0.0..=1.0).contains(&threshold) {
            let what = format!("`judge.threshold` must be between 0 and 1, got {threshold}");
            return Err(Complaint::new(what)
                .help("set the minimum confidence of the judge; the default is 0.7"));
        }
        let lowest = Grading::default().lowest.min(threshold);
        Ok(ReadingOptions { grading: Grading { threshold, lowest }, budget: self.budget })
    }
}

/// Creates the judge with this name.
fn judge(named: &str, options: &Options, time: Duration) -> anyhow::Result<Box<dyn Judge>> {
    let own = &options.judge;
    match named {
        "" | "auto" if !own.command.is_empty() => {
            Ok(Box::new(ProgramJudge::command(&own.command, time).map_err(not_started)?))
        }
        "auto" if !["", "auto"].contains(&own.name.as_str()) => judge(&own.name, options, time),
        "auto" => {
            let judge = on_this_machine(own, time)?;
            writeln!(io::stderr(), "judging answers with `{}`", judge.name())?;
            Ok(judge)
        }
        name => match ProgramJudge::known(name, &own.model, time).map_err(not_started)? {
            Some(judge) => Ok(Box::new(judge)),
            None => model(name, options),
        },
    }
}

fn not_started(error: NotStarted) -> Complaint {
    let help = match error {
        NotStarted::Empty => "set `judge.command`, for example to `[\"my-judge\"]`",
        NotStarted::NotInstalled(_) => "install it and sign in, or choose another judge",
    };
    Complaint::from_error(error).help(help)
}

/// Returns the first program that is installed and signed in, or else a local model server.
fn on_this_machine(own: &JudgeOptions, time: Duration) -> anyhow::Result<Box<dyn Judge>> {
    if let Some(judge) = ProgramJudge::installed(&own.model, time) {
        return Ok(Box::new(judge));
    }
    #[cfg(feature = "guard")]
    if let Some(judge) = super::model::local(&own.model, time) {
        return Ok(Box::new(judge));
    }
    Err(Complaint::new("no judge found on this machine")
        .help(
            "install and sign in to `claude`, `codex` or `gemini`, start a model server (Ollama, LM \
             Studio, vLLM, llama.cpp), or name a model from `[[llm.providers]]`",
        )
        .into())
}

#[cfg(feature = "guard")]
fn model(named: &str, options: &Options) -> anyhow::Result<Box<dyn Judge>> {
    if options.llm.providers.iter().all(|provider| provider.name != named) {
        let known = "claude, codex, gemini, auto, and the names under [[llm.providers]] in your \
            configuration";
        return Err(Complaint::new(format!("unknown judge `{named}`"))
            .help(format!("known: {known}"))
            .into());
    }
    let provider = crate::provider::provider(&options.llm, named)?;
    Ok(Box::new(super::model::ModelJudge::new(named, provider)?))
}

#[cfg(not(feature = "guard"))]
fn model(named: &str, _: &Options) -> anyhow::Result<Box<dyn Judge>> {
    Err(Complaint::new(format!("this build has no judge `{named}`"))
        .help(
            "this build contains only the linter: use `claude`, `codex` or `gemini`, or build \
            with the default features",
        )
        .into())
}

/// The supported batch interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BatchFormName {
    /// `OpenAI` chat completions
    Openai,
    /// Anthropic messages
    Anthropic,
}

impl JudgeArguments {
    /// The file that opinions are read from.
    pub(crate) fn read(&self) -> Option<&std::path::Path> {
        self.opinions.as_deref()
    }

    /// The file that questions are written to.
    pub(crate) fn written(&self) -> Option<&std::path::Path> {
        self.judge_batch.as_deref()
    }

    /// Returns how answers are read; `None` if no judge reads them.
    pub(crate) fn judging(
        &self,
        global: &Global,
        options: &Options,
    ) -> anyhow::Result<Option<Judging>> {
        if self.suspected {
            let hint =
                "`--suspected` has no effect: rules report only what they can prove; use `--judge`";
            note(hint)?;
        }
        let own = &options.judge;
        let named = self.judge.as_deref().unwrap_or(&own.name);
        let only_files =
            self.judge.is_none() && (self.opinions.is_some() || self.written().is_some());
        let wanted = !named.is_empty() || !own.command.is_empty();
        if self.no_judge || !(wanted || only_files) {
            return Ok(None);
        }
        let time = Duration::from_secs(own.timeout_secs.max(1));
        let judge = if only_files { None } else { Some(judge(named, options, time)?) };
        let opinions = match (&self.opinions, &judge) {
            (Some(path), judge) => Keeper::open(path, judge.is_some())?,
            // A user's own program may give other opinions after it is changed.
            (None, Some(_)) if !own.is_command(named) => Keeper::in_state(global)?,
            (None, _) => Keeper::none(),
        };
        // Last, after all checks, because it empties the file.
        let batch = match &self.judge_batch {
            Some(path) => Some(Batch::create(path, self.batch_format.into(), self.model(own)?)?),
            None => None,
        };
        let judging = Judging::new(judge, opinions, own)?;
        Ok(Some(Judging { batch: batch.map(Mutex::new), ..judging }))
    }

    fn model(&self, own: &JudgeOptions) -> anyhow::Result<String> {
        let model = self.batch_model.clone().unwrap_or_else(|| own.model.clone());
        if model.is_empty() {
            note(
                "no model was specified: replace the placeholder `MODEL` in the batch file, \
                 or pass `--batch-model`",
            )?;
            return Ok("MODEL".to_owned());
        }
        Ok(model)
    }
}

impl From<BatchFormName> for BatchForm {
    fn from(name: BatchFormName) -> Self {
        match name {
            BatchFormName::Openai => Self::Openai,
            BatchFormName::Anthropic => Self::Anthropic,
        }
    }
}
