use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use counterfoil_agent::{
    CatchUp, LastFiring, Schedule, ScheduleTaskError, Scheduler, ShownTask, TaskId, TaskState,
    time_zone,
};
use counterfoil_report::{json_pretty, visible};
use serde_json::Value;

use crate::approver::{Asks, AtTerminal};
use crate::choices::WholeFormat;
use crate::conversation::{
    Begun, Fired, Front as _, LOOK_AT_TASKS, Lines, Wanted, begin, fire, scheduler,
};
use crate::exit::{Complaint, Exit, note};
use crate::global::Global;
use crate::signals::interrupted;
use crate::surroundings::runtime;

/// Manage scheduled tasks for the chat agent
///
/// Times are in this machine's time zone. Each run of a task is a call that passes through every
/// gate and gets a receipt. No run happens twice, even if several processes are waiting for it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil scheduler explain 'first monday of the month at 9'
  counterfoil scheduler add 'every weekday at 9am' \"Summarize last night's failed builds\"
  counterfoil scheduler list
  counterfoil scheduler run            until Ctrl-C; `--once` runs the tasks due now, and exits")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Explain a time expression without adding a task
    Explain {
        /// The time, in English or as five cron fields
        when: String,
    },
    /// Add a task
    Add {
        /// The time, in English or as five cron fields
        when: String,
        /// The prompt to run at that time
        prompt: String,
        /// What to do about missed runs
        #[arg(long, value_name = "POLICY", default_value = "once")]
        catch_up: Missed,
    },
    /// List the pending tasks
    List {
        /// Include finished tasks
        #[arg(long)]
        all: bool,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: WholeFormat,
    },
    /// Cancel a task
    Cancel {
        /// The number of the task
        task: u64,
    },
    /// Run tasks as they become due
    Run {
        /// Run the tasks that are due now, and exit
        #[arg(long)]
        once: bool,
        /// Approve every call that requires approval; denied and blocked calls stay denied
        #[arg(long, short)]
        yes: bool,
        /// The model, by its name in `[[llm.providers]]`
        #[arg(long, value_name = "NAME")]
        provider: Option<String>,
        /// The project's root, to which calls are confined [default: the working directory]
        #[arg(long, value_name = "FOLDER")]
        workspace: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Missed {
    /// Skip them
    Skip,
    /// Run only the latest
    Once,
    /// Run each of them
    All,
}

/// The session of tasks that the user adds here.
const SESSION: &str = "scheduler";

/// The time after which an unfinished firing is given up, in milliseconds.
const GIVEN_UP: i64 = 3_600_000;

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.what {
        What::Explain { when } => explain(when),
        What::Add { when, prompt, catch_up } => {
            let catch_up = match catch_up {
                Missed::Skip => CatchUp::Skip,
                Missed::Once => CatchUp::Once,
                Missed::All => CatchUp::All,
            };
            let scheduler = scheduler(global)?;
            let made = scheduler.add(SESSION, when, prompt, catch_up);
            let (id, understood) = made.map_err(|error| complaint(&error))?;
            writeln!(io::stdout(), "task {id}: {understood}")?;
            Ok(Exit::Clean)
        }
        What::List { all, format } => list(&scheduler(global)?, *all, *format),
        What::Cancel { task } => cancel(&scheduler(global)?, *task),
        What::Run { once, yes, provider, workspace } => {
            let wanted = Wanted {
                session: Some(SESSION),
                alone: false,
                provider: provider.as_deref(),
                approver: Arc::new(Asks::new(AtTerminal, *yes)),
                workspace: workspace.clone(),
            };
            let runtime = runtime()?;
            let begun = begin(global, &wanted, &runtime)?;
            let exit = runtime.block_on(run_due(begun, *once));
            runtime.shutdown_background();
            exit
        }
    }
}

fn complaint(error: &ScheduleTaskError) -> Complaint {
    Complaint::new(error.to_string())
}

fn explain(when: &str) -> anyhow::Result<Exit> {
    let mut at = jiff::Timestamp::now().to_zoned(time_zone());
    let schedule = Schedule::parse(when, &at).map_err(Complaint::from_error)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", schedule.describe(&at))?;
    for _ in 0..3 {
        let Some(next) = schedule.next_after(&at) else { break };
        writeln!(out, "  {}", next.strftime("%a %Y-%m-%d %H:%M %Z"))?;
        at = next;
    }
    Ok(Exit::Clean)
}

fn list(scheduler: &Scheduler, all: bool, format: WholeFormat) -> anyhow::Result<Exit> {
    let mut shown = scheduler.list()?;
    shown.retain(|task| all || task.state == TaskState::Active);
    let mut out = io::stdout().lock();
    match format {
        WholeFormat::Json => writeln!(out, "{}", json_pretty(&shown))?,
        WholeFormat::Text if shown.is_empty() => writeln!(out, "no tasks")?,
        WholeFormat::Text => {
            for task in &shown {
                writeln!(out, "{}", line(task))?;
            }
        }
    }
    Ok(Exit::Clean)
}

/// Formats a task in a few lines.
fn line(shown: &ShownTask) -> String {
    let ShownTask { task, when, prompt, next, state, workspace, last, .. } = shown;
    let next = next.as_deref().unwrap_or("–");
    let mut text = format!("{task}  {state}  {next}  {}\n   {}", visible(when), visible(prompt));
    text.push_str(&format!("\n   in {}", visible(workspace)));
    if let Some(LastFiring { due, outcome, .. }) = last {
        let outcome = outcome.as_deref().unwrap_or("still running, or its process was killed");
        text.push_str(&format!("; last run {due}: {outcome}"));
    }
    text
}

fn cancel(scheduler: &Scheduler, task: u64) -> anyhow::Result<Exit> {
    let id: TaskId = serde_json::from_value(Value::from(task))
        .map_err(|_| Complaint::new(format!("`{task}` is not a valid task number")))?;
    if !scheduler.store().cancel(id)? {
        let help = "`counterfoil scheduler list` lists the active tasks";
        return Err(Complaint::new(format!("no active task {task}")).help(help).into());
    }
    writeln!(io::stdout(), "task {task} cancelled")?;
    Ok(Exit::Clean)
}

/// Runs due tasks until interrupted.
async fn run_due(mut begun: Begun, once: bool) -> anyhow::Result<Exit> {
    let mut lines = Lines::new(false);
    lines.show(&begun.notices)?;
    let Some(scheduler) = begun.scheduler.clone() else {
        return Err(Complaint::new("the scheduled tasks are not available".to_owned()).into());
    };
    let interrupted_before = scheduler.give_up_interrupted(GIVEN_UP)?;
    if interrupted_before > 0 {
        let what = "interrupted earlier and will not be repeated";
        note(format!("{interrupted_before} task runs were {what}"))?;
    }
    let mut exit = Exit::Clean;
    loop {
        while let Some(due) = scheduler.take_due()? {
            match fire(&mut begun, &mut lines, &due).await? {
                Fired::Answered(turned) if turned.accepted => {}
                Fired::Answered(_) | Fired::Failed => exit = Exit::Findings,
                Fired::BrokenOff => return Ok(Exit::Findings),
            }
        }
        if once {
            return Ok(exit);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AT_TASKS) => {}
            () = interrupted() => return Ok(exit),
        }
    }
}
