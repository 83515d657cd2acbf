use counterfoil_guard::HostedCall;

use super::described::List;
use super::gateway::member;
use super::message::Message;
use super::own_list::Listed;
use super::tasks::asked_about;

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
    /// Anything else.
    Other,
}

impl Waiting {
    pub(super) fn of(message: &Message<'_>, method: &str) -> Self {
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
            "tasks/get" | "tasks/cancel" => {
                asked_about(message).map_or(Self::Other, Self::TaskState)
            }
            "tasks/result" => asked_about(message).map_or(Self::Other, Self::TaskResult),
            _ => Self::Other,
        }
    }
}

/// Whether a list is requested from its beginning.
fn is_first(message: &Message<'_>) -> bool {
    let cursor = message.params().and_then(|raw| member(raw, "cursor"));
    cursor.is_none_or(|cursor| cursor.is_null())
}

/// A call that the server is executing.
pub(super) struct Call {
    pub(super) hosted: HostedCall,
    pub(super) execution_id: Option<String>,
    /// Whether it may become a task that continues after the answer, because the client supports
    /// this.
    pub(super) as_task: bool,
}
