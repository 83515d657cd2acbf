use std::sync::Arc;

use counterfoil_guard::BoxFuture;
use serde_json::{Map, Value, json};

/// Answers questions that a server asks a person.
pub trait Elicits: Send + Sync {
    /// The answer to `elicitation/create` with these parameters:
    /// `{"action": "accept", "content": {…}}`, or `decline` or `cancel`.
    fn elicit<'a>(&'a self, params: &'a Value) -> BoxFuture<'a, Value>;
}

/// A client of ours to which questions are passed on.
pub(crate) trait Responder: Send + Sync {
    /// Its capabilities.
    fn capabilities(&self) -> Value;

    /// Whether an answer is still pending.
    fn is_waiting(&self) -> bool;

    /// Passes on a request and returns the answer; `None` if there is none.
    fn ask<'a>(&'a self, method: &'a str, params: &'a Value) -> BoxFuture<'a, Option<Value>>;
}

/// Who answers a server's questions.
#[derive(Clone, Default)]
pub(crate) enum Questions {
    /// Questions are not answered.
    #[default]
    NoOne,
    /// The client whose call is in progress, if there is one.
    Declared,
    /// A person.
    Person(Arc<dyn Elicits>),
    /// A client of ours.
    Client(Arc<dyn Responder>),
}

impl Questions {
    /// The capabilities we declare.
    pub(super) fn capabilities(&self) -> Value {
        match self {
            Self::NoOne => json!({}),
            Self::Declared => json!({ "elicitation": {}, "sampling": {}, "roots": {} }),
            Self::Person(_) => json!({ "elicitation": {} }),
            Self::Client(client) => client.capabilities(),
        }
    }

    /// Whether an answer is still pending.
    pub(super) fn are_waiting(&self) -> bool {
        match self {
            Self::NoOne | Self::Declared => false,
            // A person's time counts towards the server's limit.
            Self::Person(_) => false,
            Self::Client(client) => client.is_waiting(),
        }
    }

    /// The answer to a server's request; `None` if there is none.
    pub(super) async fn answer(&self, method: &str, params: Value) -> Option<Value> {
        match (method, self) {
            ("ping", _) => Some(json!({})),
            ("elicitation/create", Self::Person(person)) => Some(person.elicit(&params).await),
            (_, Self::Client(client)) => client.ask(method, &params).await,
            _ => None,
        }
    }

    /// The answers to everything that a result asks for; `None` if any cannot be given.
    pub(crate) async fn answered(&self, result: &Value) -> Option<Value> {
        let mut answers = Map::new();
        let requests = result.get("inputRequests").and_then(Value::as_object);
        for (name, request) in requests.into_iter().flatten() {
            let method = request.get("method").and_then(Value::as_str)?;
            let params = request.get("params").cloned().unwrap_or_default();
            answers.insert(name.clone(), self.answer(method, params).await?);
        }
        Some(Value::Object(answers))
    }
}
