use serde_json::Value;
use tokio::sync::oneshot;

use super::call::Call;
use super::lists::List;
use super::members::member;
use super::message::Message;
use super::open_tasks::task_of;

/// The kind of a pending request.
pub(super) enum Waiting {
    /// A tool call, with its receipt.
    Call(Box<Call>),
    /// A tool call that is waiting for a person.
    Person,
    /// A list of tools, and whether this is its first page.
    Tools { first: bool },
    /// A page of tools that the gateway requested itself.
    OwnTools { first: bool, listed: Listed },
    /// The server's greeting.
    Greeting,
    /// A list of prompts or resources, and whether this is its first page.
    Definitions { list: List, first: bool },
    /// The state of the task with this id.
    TaskState(String),
    /// The result of the task with this id.
    TaskResult(String),
    /// A request that the client cancelled. Its id stays in use, because the server may answer it
    /// late, and the answer must not count as that of another request.
    Cancelled,
    /// Anything else.
    Other,
}

/// Receives the cursor of the next page, if there is one.
pub(super) type Listed = oneshot::Sender<Option<Value>>;

impl Waiting {
    /// Whether someone waits for the answer.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Cancelled)
    }

    pub(super) fn new(message: &Message<'_>, method: &str) -> Self {
        match method {
            "initialize" | "server/discover" => Self::Greeting,
            "tools/list" => Self::Tools { first: is_first(message) },
            "prompts/list" | "resources/list" | "resources/templates/list" => {
                let list = match method {
                    "prompts/list" => List::Prompts,
                    "resources/list" => List::Resources,
                    _ => List::Templates,
                };
                Self::Definitions { list, first: is_first(message) }
            }
            "tasks/get" | "tasks/cancel" => task_of(message).map_or(Self::Other, Self::TaskState),
            "tasks/result" => task_of(message).map_or(Self::Other, Self::TaskResult),
            _ => Self::Other,
        }
    }
}

/// Whether a list is requested from its beginning.
fn is_first(message: &Message<'_>) -> bool {
    let cursor = message.params().and_then(|raw| member(raw, "cursor"));
    cursor.is_none_or(|cursor| cursor.is_null())
}
