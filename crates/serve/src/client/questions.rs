use std::sync::Arc;

use counterfoil_guard::BoxFuture;
use serde_json::{Map, Value, json};

/// Answers what a server asks of a person.
pub trait Elicits: Send + Sync {
    /// The answer to `elicitation/create` with these params: `{"action": "accept", "content": {…}}`,
    /// or `decline` or `cancel`.
    fn elicit<'a>(&'a self, params: &'a Value) -> BoxFuture<'a, Value>;
}

/// What a server may ask, and who answers.
#[derive(Clone)]
pub(super) struct Questions {
    elicits: Option<Arc<dyn Elicits>>,
}

impl Questions {
    pub(super) fn new(elicits: Option<Arc<dyn Elicits>>) -> Self {
        Self { elicits }
    }

    /// What we say we can.
    pub(super) fn capabilities(&self) -> Value {
        match self.elicits {
            Some(_) => json!({ "elicitation": {} }),
            None => json!({}),
        }
    }

    /// The result of a request of the server; `None` where there is none.
    pub(super) async fn answer(&self, method: &str, params: Value) -> Option<Value> {
        match (method, &self.elicits) {
            ("ping", _) => Some(json!({})),
            ("elicitation/create", Some(elicits)) => Some(elicits.elicit(&params).await),
            _ => None,
        }
    }

    /// The answers to all that a result asks for; `None` where one of them cannot be answered.
    pub(super) async fn answered(&self, result: &Value) -> Option<Value> {
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
