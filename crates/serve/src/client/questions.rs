use std::sync::Arc;

use counterfoil_guard::BoxFuture;
use serde_json::{Map, Value, json};

/// Answers what a server asks of a person.
pub trait Elicits: Send + Sync {
    /// The answer to `elicitation/create` with these params: `{"action": "accept", "content": {…}}`,
    /// or `decline` or `cancel`.
    fn elicit<'a>(&'a self, params: &'a Value) -> BoxFuture<'a, Value>;
}

/// A client of ours that is asked in turn.
pub(crate) trait Responder: Send + Sync {
    /// What it can answer.
    fn capabilities(&self) -> Value;

    /// Whether it has not answered yet.
    fn is_waiting(&self) -> bool;

    /// Its answer to a request; `None` where it gives none.
    fn ask<'a>(&'a self, method: &'a str, params: &'a Value) -> BoxFuture<'a, Option<Value>>;
}

/// What a server may ask, and who answers.
#[derive(Clone, Default)]
pub(crate) enum Questions {
    /// Nobody.
    #[default]
    Nobody,
    /// Whoever makes a call, if anybody.
    Declared,
    /// A person.
    Person(Arc<dyn Elicits>),
    /// A client of ours.
    Client(Arc<dyn Responder>),
}

impl Questions {
    /// What we say we can.
    pub(super) fn capabilities(&self) -> Value {
        match self {
            Self::Nobody => json!({}),
            Self::Declared => json!({ "elicitation": {}, "sampling": {}, "roots": {} }),
            Self::Person(_) => json!({ "elicitation": {} }),
            Self::Client(client) => client.capabilities(),
        }
    }

    /// Whether somebody has not answered yet.
    pub(super) fn are_waiting(&self) -> bool {
        match self {
            Self::Nobody | Self::Declared => false,
            // However long a person takes: the limit is the server's.
            Self::Person(_) => false,
            Self::Client(client) => client.is_waiting(),
        }
    }

    /// The result of a request of the server; `None` where there is none.
    pub(super) async fn answer(&self, method: &str, params: Value) -> Option<Value> {
        match (method, self) {
            ("ping", _) => Some(json!({})),
            ("elicitation/create", Self::Person(person)) => Some(person.elicit(&params).await),
            (_, Self::Client(client)) => client.ask(method, &params).await,
            _ => None,
        }
    }

    /// The answers to all that a result asks for; `None` where one of them cannot be answered.
    pub(crate) async fn answered(&self, result: &Value) -> Option<Value> {
        let mut answers = Map::new();
        let asked = result.get("inputRequests").and_then(Value::as_object);
        for (name, request) in asked.into_iter().flatten() {
            let method = request.get("method").and_then(Value::as_str)?;
            let params = request.get("params").cloned().unwrap_or_default();
            answers.insert(name.clone(), self.answer(method, params).await?);
        }
        Some(Value::Object(answers))
    }
}
