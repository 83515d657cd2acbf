//! Tasks for later: asked for in plain words, kept in the store, and fired once each by the process
//! that looks first.

use std::path::Path;
use std::sync::Arc;

use counterfoil_guard::{
    CallError, Clock, FunctionExecutor, Phase, Surroundings, ToolError, ToolOutput,
};
use counterfoil_model::{Status, ToolCall};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::own_tool::{own_tool, refused, text, writing};
use crate::schedule::Schedule;
use crate::store::{CatchUp, NewTask, Store, StoreError, Task, TaskId, TaskState};
use crate::turn::{Saying, TurnError, Turned};
use crate::watch::Watch;

/// The tool that runs a task.
const RUN_TASK: &str = "run_task";

/// A firing that is later than this, in milliseconds, was missed.
const MISSED: i64 = 60_000;

/// The most missed firings that are caught up.
const MOST_CAUGHT_UP: usize = 100;

/// Keeps tasks, and knows which are due.
#[derive(Clone)]
pub struct Scheduler {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    zone: TimeZone,
    workspace: String,
}

/// A firing that is this process's to run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Due {
    /// The task.
    pub task: Task,
    /// When it was to run, in milliseconds since 1970 UTC.
    pub at: i64,
}

/// A task as the model and people read it. Times are `2026-11-26 09:00 CET`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShownTask {
    /// Its number.
    pub task: TaskId,
    /// When, as it was asked for.
    pub when: String,
    /// What is to be done.
    pub prompt: String,
    /// When it comes next.
    pub next: Option<String>,
    /// Whether it is over.
    pub state: TaskState,
    /// The folder in which it runs.
    pub workspace: String,
    /// What came of it the last time.
    pub last: Option<LastFiring>,
}

/// A firing, as the model and people read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LastFiring {
    /// When it was to run.
    pub due: String,
    /// `done`, `held_back`, `failed`, `interrupted`, or the status of a call that was not let
    /// through; nothing while it runs.
    pub outcome: Option<String>,
    /// The receipt of its call.
    pub receipt: Option<String>,
}

/// A task was not made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleTaskError {
    /// When it is to run was not understood.
    #[error(transparent)]
    Phrase(#[from] crate::schedule::ScheduleError),
    /// It is to run once, and the phrase says more.
    #[error("`{0}` is recurring; use `scheduler` for recurring tasks")]
    Again(String),
    /// There is nothing to tell the agent.
    #[error("the task has no prompt")]
    NoPrompt,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A firing did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FireError {
    /// It may not run.
    #[error("the task did not run: {0}")]
    NotRun(String),
    /// The record of its call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What the agent did about it.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The store.
    #[error("cannot record the end of the task: {0}")]
    Store(#[from] StoreError),
}

/// The time zone of this machine; UTC where it does not say one.
#[must_use]
pub fn time_zone() -> TimeZone {
    match TimeZone::try_system() {
        Ok(zone) if zone.iana_name().is_some() => zone,
        Ok(_) | Err(_) => TimeZone::UTC,
    }
}

impl Scheduler {
    /// Tasks in this store, of this folder: those of others are listed, and not run. Phrases are
    /// read in this time zone.
    #[must_use]
    pub fn new(store: Arc<Store>, clock: Arc<dyn Clock>, zone: TimeZone, workspace: &Path) -> Self {
        Self { store, clock, zone, workspace: workspace.to_string_lossy().into_owned() }
    }

    /// What time it is here.
    #[must_use]
    pub fn now(&self) -> Zoned {
        self.at(self.clock.wall())
    }

    fn at(&self, millis: i64) -> Zoned {
        Timestamp::from_millisecond(millis).unwrap_or_default().to_zoned(self.zone.clone())
    }

    /// Makes a task, and says what was understood.
    ///
    /// # Errors
    /// When the phrase is not understood, or the task cannot be kept.
    pub fn add(
        &self,
        session: &str,
        phrase: &str,
        prompt: &str,
        catch_up: CatchUp,
    ) -> Result<(TaskId, String), ScheduleTaskError> {
        if prompt.trim().is_empty() {
            return Err(ScheduleTaskError::NoPrompt);
        }
        let now = self.now();
        let schedule = Schedule::parse(phrase, &now)?;
        let task = NewTask {
            session: session.to_owned(),
            workspace: self.workspace.clone(),
            phrase: phrase.to_owned(),
            // The store takes nothing but JSON.
            schedule: serde_json::to_string(&schedule).unwrap_or_default(),
            prompt: prompt.to_owned(),
            next_at: schedule.next_after(&now).map(|next| next.timestamp().as_millisecond()),
            catch_up,
            created_at: now.timestamp().as_millisecond(),
        };
        Ok((self.store.add_task(&task)?, schedule.describe(&now)))
    }

    /// Its store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Says of firings of processes that were killed that they came to no end: they are not run
    /// again, because it is unknown how far they came. Gives how many.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn give_up_interrupted(&self, older_than: i64) -> Result<usize, StoreError> {
        let mut count = 0;
        let now = self.clock.wall();
        for firing in self.store.unfinished()? {
            if now.saturating_sub(firing.started_at) >= older_than
                && self.store.finish(firing.task, firing.due_at, now, "interrupted", None)?
            {
                count += 1;
            }
        }
        Ok(count)
    }

    /// The next firing that is due now, and this process's from here on; what was missed is caught
    /// up as its task says. The process that takes one runs it before it takes another.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn take_due(&self) -> Result<Option<Due>, StoreError> {
        let now = self.clock.wall();
        for task in self.store.due(now)? {
            if task.asked.workspace != self.workspace {
                continue;
            }
            let Ok(schedule) = serde_json::from_str::<Schedule>(&task.asked.schedule) else {
                tracing::error!(
                    "cannot read the schedule of task {}; the task has been cancelled",
                    task.id
                );
                self.store.cancel(task.id)?;
                continue;
            };
            let (times, next) = self.times(&task, &schedule, now);
            let chosen = chosen(&task, &times, now);
            let last = chosen.last().copied();
            for at in chosen {
                if !self.store.claim(task.id, at, now)? {
                    continue;
                }
                // Claimed first: a process that is killed here finds it due again, and claimed.
                if last == Some(at) {
                    self.store.reschedule(task.id, next)?;
                }
                return Ok(Some(Due { task, at }));
            }
            // Other processes have all of them.
            self.store.reschedule(task.id, next)?;
        }
        Ok(None)
    }

    /// A firing was broken off: it is not run again, and its task says so.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn broken_off(&self, due: &Due) -> Result<(), StoreError> {
        self.finish(due, "interrupted", None)
    }

    /// Every time at which it was to run until now, and the next one after that.
    fn times(&self, task: &Task, schedule: &Schedule, now: i64) -> (Vec<i64>, Option<i64>) {
        let mut times = Vec::new();
        let mut next = task.asked.next_at;
        while let Some(at) = next.filter(|at| *at <= now) {
            times.push(at);
            if times.len() > MOST_CAUGHT_UP {
                // The oldest go; what follows the present is found from the present.
                times.clear();
                times.push(at);
                next = self.after(schedule, now);
                break;
            }
            next = self.after(schedule, at);
        }
        (times, next)
    }

    fn after(&self, schedule: &Schedule, at: i64) -> Option<i64> {
        schedule.next_after(&self.at(at)).map(|next| next.timestamp().as_millisecond())
    }

    /// The tools with which the model makes, lists, runs and ends tasks, for a session.
    #[must_use]
    pub fn tools(&self, session: &str) -> Vec<FunctionExecutor> {
        vec![
            self.making(session, "scheduler"),
            self.making(session, "schedule_deferred"),
            self.listing(),
            self.cancelling(),
            self.running(),
        ]
    }

    fn making(&self, session: &str, name: &'static str) -> FunctionExecutor {
        let once = name == "schedule_deferred";
        let what = if once {
            "Schedules something to be done once, for example `in 20 minutes` or `tomorrow at \
             17:00`."
        } else {
            "Schedules something to be done later, once or repeatedly, for example `every weekday \
             at 9am`, `every 15 minutes between 9 and 17` or `*/15 9-17 * * 1-5`."
        };
        let description = format!(
            "{what} Your prompt is returned to you at that time. A time that is not understood \
             is refused. The result says how the time was understood; tell the user."
        );
        let members = json!({
            "when": {
                "type": "string",
                "description": "The time in English, or five cron fields.",
            },
            "prompt": { "type": "string", "minLength": 1, "description": "The task to carry out." },
            "catch_up": {
                "enum": ["skip", "once", "all"],
                "description": "What to do about runs that were missed while no process was \
                                running. Default: `once`, which runs once to catch up.",
            },
        });
        let tool = writing(own_tool(name, &description, members, &["when", "prompt"]));
        let (own, session) = (self.clone(), session.to_owned());
        FunctionExecutor::new(tool, move |arguments: &Value| {
            let (when, prompt) = (text(arguments, "when"), text(arguments, "prompt"));
            let catch_up = arguments.get("catch_up").cloned();
            let catch_up = catch_up.and_then(|word| serde_json::from_value(word).ok());
            let recurs = Schedule::parse(when, &own.now()).is_ok_and(|when| when.is_recurring());
            let made = if once && recurs {
                Err(ScheduleTaskError::Again(when.to_owned()))
            } else {
                own.add(&session, when, prompt, catch_up.unwrap_or(CatchUp::Once))
            };
            let (id, understood) = made.map_err(refused)?;
            Ok::<_, ToolError>(ToolOutput::from(json!({ "task": id, "understood": understood })))
        })
    }

    fn listing(&self) -> FunctionExecutor {
        let tool = own_tool("list_tasks", "Lists the scheduled tasks.", json!({}), &[]);
        let own = self.clone();
        FunctionExecutor::new(tool, move |_: &Value| {
            let mut tasks = own.list().map_err(refused)?;
            tasks.retain(|task| task.state == TaskState::Active);
            Ok::<_, ToolError>(ToolOutput::from(json!({ "tasks": tasks })))
        })
    }

    /// Every task, as the model and people read it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self) -> Result<Vec<ShownTask>, StoreError> {
        self.store.tasks()?.iter().map(|task| self.shown(task)).collect()
    }

    fn shown(&self, task: &Task) -> Result<ShownTask, StoreError> {
        let time = |at: i64| self.at(at).strftime("%Y-%m-%d %H:%M %Z").to_string();
        let last = self.store.firings(task.id, 1)?.into_iter().next();
        Ok(ShownTask {
            task: task.id,
            when: task.asked.phrase.clone(),
            prompt: task.asked.prompt.clone(),
            next: task.asked.next_at.map(time),
            state: task.state,
            workspace: task.asked.workspace.clone(),
            last: last.map(|firing| LastFiring {
                due: time(firing.due_at),
                outcome: firing.outcome,
                receipt: firing.execution_id,
            }),
        })
    }

    fn cancelling(&self) -> FunctionExecutor {
        let what = "Cancels a task, so that it does not run again.";
        let tool = writing(own_tool("cancel_task", what, one_task(), &["task"]));
        let own = self.clone();
        FunctionExecutor::new(tool, move |arguments: &Value| {
            let id = task_id(arguments)?;
            match own.store.cancel(id).map_err(refused)? {
                true => Ok(ToolOutput::from(json!({ "cancelled": id }))),
                false => Err(no_task(id)),
            }
        })
    }

    fn running(&self) -> FunctionExecutor {
        let what = "Returns the prompt of a task, to be carried out now.";
        let tool = own_tool(RUN_TASK, what, one_task(), &["task"]);
        let own = self.clone();
        FunctionExecutor::new(tool, move |arguments: &Value| {
            let id = task_id(arguments)?;
            let tasks = own.store.tasks().map_err(refused)?;
            let task = tasks.into_iter().find(|task| task.id == id);
            task.map(|task| ToolOutput::from(task.asked.prompt)).ok_or_else(|| no_task(id))
        })
    }

    /// Runs a firing: a call of its own through every gate, and then the turn that does it.
    ///
    /// # Errors
    /// When it may not run, or came to no end. Either is kept.
    pub async fn fire(
        &self,
        agent: &mut Agent,
        due: &Due,
        watch: &mut dyn Watch,
    ) -> Result<Turned, FireError> {
        let around = Surroundings { phase: Phase::Autonomous, ..Surroundings::default() };
        let call = ToolCall::new("", RUN_TASK, json!({ "task": due.task.id }).to_string());
        let answer = agent.session().call(call, around).await?;
        let id = answer.execution_id.as_str();
        if answer.status != Status::Completed {
            self.finish(due, answer.status.name(), Some(id))?;
            return Err(FireError::NotRun(answer.text));
        }
        let turned = agent.say(Saying::Task(&due.task.asked.prompt), watch).await;
        let outcome = match &turned {
            Ok(turned) if turned.accepted => "done",
            Ok(_) => "held_back",
            Err(_) => "failed",
        };
        self.finish(due, outcome, Some(id))?;
        Ok(turned?)
    }

    fn finish(&self, due: &Due, outcome: &str, receipt: Option<&str>) -> Result<(), StoreError> {
        self.store.finish(due.task.id, due.at, self.clock.wall(), outcome, receipt).map(drop)
    }
}

/// Which of the times at which it was to run are run now.
fn chosen(task: &Task, times: &[i64], now: i64) -> Vec<i64> {
    let missed = |at: &i64| now.saturating_sub(*at) > MISSED;
    match task.asked.catch_up {
        CatchUp::Skip => times.iter().copied().filter(|at| !missed(at)).collect(),
        CatchUp::Once => times.last().copied().into_iter().collect(),
        CatchUp::All => times.to_vec(),
    }
}

fn one_task() -> Value {
    json!({ "task": { "type": "integer", "minimum": 1 } })
}

fn task_id(arguments: &Value) -> Result<TaskId, ToolError> {
    let id = arguments.get("task").cloned().unwrap_or_default();
    serde_json::from_value(id).map_err(refused)
}

fn no_task(id: TaskId) -> ToolError {
    refused(format!("there is no scheduled task {id}"))
}
