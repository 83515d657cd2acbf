//! The calls that continue as tasks, and how messages name them.

use std::collections::VecDeque;

use counterfoil_guard::HostEnded;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::Call;
use super::members::Members;
use super::message::{CAPABILITIES, Message};

/// The extension with which a client declares that any call may become a task.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The calls that continue as tasks, oldest first.
#[derive(Default)]
pub(super) struct Tasks {
    pub(super) open: VecDeque<Task>,
    /// The ids of tasks that were begun here, each with its client.
    pub(super) begun: VecDeque<(String, Option<String>)>,
}

pub(super) struct Task {
    pub(super) id: String,
    pub(super) call: Call,
    /// The last reported outcome, until the result is requested.
    pub(super) outcome: Option<HostEnded>,
}

impl Tasks {
    pub(super) fn knows(&self, id: &str) -> bool {
        self.open.iter().any(|task| task.id == id)
    }

    /// Whether this client began a task with this id.
    pub(super) fn are_of(&self, client: Option<&str>, id: &str) -> bool {
        self.begun.iter().any(|(begun, by)| begun == id && by.as_deref() == client)
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Call> {
        let at = self.open.iter().position(|task| task.id == id)?;
        self.open.remove(at).map(|task| task.call)
    }
}

/// Whether a client's `_meta` or capabilities declare that its calls may become tasks.
pub(super) fn takes_tasks(meta: Option<&RawValue>, greeting: bool) -> bool {
    let object = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).ok();
    let Some(declared) = meta.and_then(object) else { return false };
    let capabilities = if greeting { Some(&declared) } else { declared.get(CAPABILITIES) };
    capabilities.and_then(|able| able.get("extensions")?.get(EXTENSION)).is_some()
}

/// The id of the task that begins with a call's result.
pub(super) fn begun(result: &Value) -> Option<&str> {
    // Content beside it is a first impression of the task, and not its result.
    let named = match result.get("resultType").and_then(Value::as_str) {
        Some("task") => result.get("taskId").or_else(|| result.pointer("/task/taskId")),
        _ => result.pointer("/task/taskId"),
    };
    named.and_then(Value::as_str)
}

/// The task that a request refers to.
pub(super) fn task_of(message: &Message<'_>) -> Option<String> {
    let params: Members<'_> = serde_json::from_str(message.params()?.get()).ok()?;
    serde_json::from_str(params.get("taskId")?.get()).ok()
}
