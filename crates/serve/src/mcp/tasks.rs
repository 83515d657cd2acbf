//! Calls that a server continues as tasks. Each receipt stays open until the server reports how the
//! task ended, or until the session ends.

use counterfoil_formats::read_lenient;
use counterfoil_guard::HostEnded;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call::Call;
use super::failures::{gone, not_recorded};
use super::gateway::Gateway;
use super::members::Members;
use super::message::{self, Message, code};
use super::open_tasks::{EXTENSION, Task, takes_tasks, task_of};
use super::results::{ResultMeaning, meaning_of, members, unreadable, with_id, with_note};

/// Maximum number of open tasks; beyond it, the oldest is closed.
const MOST_TASKS: usize = 1024;

/// Members of a task's state.
const TASK: [&str; 6] = ["taskId", "status", "statusMessage", "result", "error", "_meta"];

/// The state of a task according to its server.
enum State<'m> {
    GoesOn,
    /// It ended; its result must be requested.
    Ended(HostEnded),
    /// It ended with this result.
    Result(&'m RawValue),
    /// It ended without a result.
    Over(HostEnded),
}

/// Reads the state of a task.
///
/// # Errors
/// When readers could interpret it differently.
fn state<'m>(task: &Members<'m>) -> Result<State<'m>, String> {
    if let Some(odd) = task.lookalike(&TASK) {
        return Err(odd);
    }
    let text = |name: &str| {
        let value = read_lenient(task.get(name)?.get().as_bytes()).ok()?;
        value.as_str().map(str::to_owned)
    };
    let why = || text("statusMessage").unwrap_or_else(|| "the server gave no reason".to_owned());
    let status = text("status");
    Ok(match (status.as_deref(), task.get("result"), task.get("error")) {
        (Some("completed"), Some(result), _) => State::Result(result),
        (Some("completed"), None, _) => State::Ended(HostEnded {
            status: Status::Completed,
            category: None,
            result: Value::String(
                "the task completed, but its result was never requested".to_owned(),
            ),
            exit_code: None,
            truncated: false,
        }),
        (Some("failed"), _, Some(error)) => {
            State::Over(gone(Status::Failed, ToolErrorCategory::ServerError, error.get()))
        }
        (Some("failed"), ..) => {
            State::Ended(gone(Status::Failed, ToolErrorCategory::PermanentFailure, &why()))
        }
        (Some("cancelled"), ..) => {
            State::Over(gone(Status::Cancelled, ToolErrorCategory::Cancelled, &why()))
        }
        _ => State::GoesOn,
    })
}

impl Gateway {
    /// Registers a call that continues as this task.
    pub(super) async fn goes_on(&self, id: String, mut call: Call) {
        // Its result cannot be a task again.
        call.as_task = false;
        let oldest = {
            let tasks = &mut self.shared().tasks;
            tasks.begun.push_back((id.clone(), self.client.clone()));
            tasks.open.push_back(Task { id, call, outcome: None });
            let oldest = if tasks.open.len() > MOST_TASKS { tasks.open.pop_front() } else { None };
            if tasks.begun.len() > MOST_TASKS {
                // An open task stays its client's, however many others began tasks since.
                let open = |id: &str| tasks.open.iter().any(|task| task.id == id);
                let at = tasks.begun.iter().position(|(id, _)| !open(id)).unwrap_or_default();
                tasks.begun.remove(at);
            }
            oldest
        };
        if let Some(task) = oldest {
            self.close_task(task, "the server had too many open tasks").await;
        }
    }

    async fn close_task(&self, task: Task, why: &str) {
        let unknown = || {
            let why = format!("{why}; the outcome of the task is unknown");
            gone(Status::Failed, ToolErrorCategory::ServerError, &why)
        };
        let ended = task.outcome.unwrap_or_else(unknown);
        if let Err(error) = self.close(&task.call, ended).await {
            tracing::error!("cannot record the end of a call: {error}");
        }
    }

    /// The answer to a client without a session that asks about tasks which are not its own; `None`
    /// if it may ask. The server takes all these clients for one.
    pub(super) fn not_its_task(&self, message: &Message<'_>, id: &str) -> Option<String> {
        let method = message.method.as_deref().filter(|_| self.alone)?;
        if !method.starts_with("tasks/") {
            return None;
        }
        let task = task_of(message).unwrap_or_default();
        // A list has the tasks of all clients, whatever else the request names.
        let lists = method == "tasks/list";
        if !lists && self.shared().tasks.are_of(self.client.as_deref(), &task) {
            return None;
        }
        let params = message.params().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let declares =
            params.is_some_and(|params: Members<'_>| takes_tasks(params.get("_meta"), false));
        let (code, why) = match method {
            // The protocol without sessions has neither.
            "tasks/list" | "tasks/result" => (code::METHOD_NOT_FOUND, "there is no such method"),
            _ if !declares => {
                (code::MISSING_CAPABILITY, "the client has not declared support for tasks")
            }
            _ => (code::INVALID_PARAMS, "there is no such task"),
        };
        let data = match code {
            code::MISSING_CAPABILITY => {
                json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } })
            }
            _ => Value::Null,
        };
        Some(message::error_with(id, i64::from(code), why, &data))
    }

    /// Closes all open tasks.
    pub(super) async fn end_tasks(&self, why: &str) {
        let tasks = std::mem::take(&mut self.shared().tasks);
        for task in tasks.open {
            self.close_task(task, why).await;
        }
    }

    /// The answer to a request for a task's result, which is the result of its call.
    pub(super) async fn task_result(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        task: &str,
    ) -> String {
        let call = self.shared().tasks.take(task);
        match call {
            Some(call) => self.answered(message, text, id, call).await,
            None => self.without_secrets(message, text),
        }
    }

    /// The answer to a request about a task or its cancellation.
    pub(super) async fn task_state(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        task: &str,
    ) -> String {
        match self.about_task(message, text, "result", Some(task)).await {
            Ok(answer) => answer,
            Err(TaskError::Unreadable(why)) => unreadable(id, &why),
            Err(TaskError::NotRecorded(why)) => {
                message::error(Some(id), code::INTERNAL_ERROR, &why)
            }
        }
    }

    /// A notification about a task; `None` if it cannot be passed on.
    pub(super) async fn task_notification(
        &self,
        message: &Message<'_>,
        text: &str,
    ) -> Option<String> {
        match self.about_task(message, text, "params", None).await {
            Ok(passed) => Some(passed),
            Err(TaskError::Unreadable(why) | TaskError::NotRecorded(why)) => {
                tracing::warn!("dropped a notification from `{}` about a task: {why}", self.server);
                None
            }
        }
    }

    /// A message with a task's state in this member, as passed to the client.
    async fn about_task(
        &self,
        message: &Message<'_>,
        text: &str,
        member: &str,
        expected: Option<&str>,
    ) -> Result<String, TaskError> {
        let shown = match message.members.get(member) {
            Some(raw) => self.record_task_state(raw, expected).await?,
            None => None,
        };
        Ok(match shown {
            Some(shown) => self.cleaned_with(message, member, &shown),
            None => self.without_secrets(message, text),
        })
    }

    /// Records a task's state. If it contains the result, returns it as passed to the client.
    async fn record_task_state(
        &self,
        described: &RawValue,
        expected: Option<&str>,
    ) -> Result<Option<String>, TaskError> {
        let read = members(described.get(), &TASK).map_err(TaskError::Unreadable)?;
        let named = read.get("taskId").map(|raw| serde_json::from_str::<String>(raw.get()));
        let id = match (named.transpose(), expected) {
            (Ok(Some(named)), Some(expected)) if named != expected => {
                return Err(TaskError::Unreadable("it describes another task".to_owned()));
            }
            (Ok(Some(named)), _) => named,
            (Ok(None), Some(expected)) => expected.to_owned(),
            (Ok(None), None) => return Ok(None),
            (Err(error), _) => return Err(TaskError::Unreadable(error.to_string())),
        };
        if !self.shared().tasks.knows(&id) {
            return Ok(None);
        }
        let (ended, result) = match state(&read).map_err(TaskError::Unreadable)? {
            State::GoesOn => return Ok(None),
            State::Ended(ended) => {
                let mut shared = self.shared();
                let task = shared.tasks.open.iter_mut().find(|task| task.id == id);
                task.into_iter().for_each(|task| task.outcome = Some(ended.clone()));
                return Ok(None);
            }
            State::Over(ended) => (ended, None),
            State::Result(raw) => match meaning_of(raw.get()).map_err(TaskError::Unreadable)? {
                ResultMeaning::Ended(ended) => (ended, Some(raw)),
                ResultMeaning::Task(_) => {
                    return Err(TaskError::Unreadable("its result is another task".to_owned()));
                }
            },
        };
        let Some(call) = self.shared().tasks.take(&id) else { return Ok(None) };
        let note = self
            .close(&call, ended)
            .await
            .map_err(|error| TaskError::NotRecorded(not_recorded(&error)))?;
        let (Some(raw), Some(execution_id)) = (result, &call.execution_id) else {
            return Ok(None);
        };
        let whole = self.cleaned(described.get(), self.redacts);
        let whole = whole.as_deref().unwrap_or(described.get());
        let whole = members(whole, &TASK).map_err(TaskError::Unreadable)?;
        let inner = whole.get("result").unwrap_or(raw).get();
        let inner = with_id(inner, execution_id)
            .ok_or_else(|| TaskError::Unreadable("its result is not an object".to_owned()))?;
        let inner = note.and_then(|note| with_note(&inner, &note)).unwrap_or(inner);
        Ok(Some(whole.with("result", &inner)))
    }
}

enum TaskError {
    Unreadable(String),
    NotRecorded(String),
}
