//! A server with sessions asks in the middle of a call; a client without a session is asked in a
//! result, and makes the call again with the answer. In between the call waits here.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_guard::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Wrong;
use crate::client::Responder;
use crate::mcp::code;

/// How the names of waiting calls begin.
const TOKEN: &str = "bridge-";

/// How long a call waits for its client to come back, and how many do at once.
const PATIENCE: Duration = Duration::from_secs(600);
const MOST: usize = 256;

/// The name of a question in what a client is told.
const ASKED: &str = "asked";

/// Calls that wait for their clients.
#[derive(Default)]
pub(super) struct PausedCalls(Mutex<BTreeMap<String, PausedCall>>);

/// A call that is under way, and what its server asks.
pub(super) struct PausedCall {
    /// What was called with what: the same has to come again.
    called: String,
    outcome: JoinHandle<Result<String, Wrong>>,
    questions: mpsc::Receiver<Question>,
    answer: Option<oneshot::Sender<Value>>,
    since: Instant,
}

/// What a server asks.
pub(super) struct Question {
    method: String,
    params: Value,
    answer: oneshot::Sender<Value>,
}

/// Brings the questions of a server to whoever waits for its call.
pub(super) struct PausingResponder {
    /// What the client of the call can answer.
    capabilities: Value,
    to: mpsc::Sender<Question>,
    waits: AtomicBool,
}

impl PausingResponder {
    pub(super) fn new(capabilities: Value) -> (Self, mpsc::Receiver<Question>) {
        let (to, questions) = mpsc::channel(1);
        (Self { capabilities, to, waits: AtomicBool::new(false) }, questions)
    }
}

impl Responder for PausingResponder {
    fn capabilities(&self) -> Value {
        self.capabilities.clone()
    }

    fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    fn ask<'a>(&'a self, method: &'a str, params: &'a Value) -> BoxFuture<'a, Option<Value>> {
        Box::pin(async move {
            // What it did not say that it can, it is not asked.
            self.capabilities.get(method.split('/').next().unwrap_or_default())?;
            let (answer, answered) = oneshot::channel();
            let question = Question { method: method.to_owned(), params: params.clone(), answer };
            self.waits.store(true, Ordering::Relaxed);
            let given = match self.to.send(question).await {
                Ok(()) => answered.await.ok(),
                Err(_) => None,
            };
            self.waits.store(false, Ordering::Relaxed);
            given
        })
    }
}

impl PausedCall {
    pub(super) fn new(
        called: String,
        outcome: JoinHandle<Result<String, Wrong>>,
        questions: mpsc::Receiver<Question>,
    ) -> Self {
        Self { called, outcome, questions, answer: None, since: Instant::now() }
    }
}

impl Drop for PausedCall {
    fn drop(&mut self) {
        self.outcome.abort();
    }
}

impl PausedCalls {
    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, PausedCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What comes of a call next: its result, or a question.
    pub(super) async fn next(&self, mut pending: PausedCall) -> Result<String, Wrong> {
        let question = tokio::select! {
            outcome = &mut pending.outcome => return ended(outcome),
            question = pending.questions.recv() => question,
        };
        let Some(question) = question else { return ended((&mut pending.outcome).await) };
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Wrong::ClientReply(code::INTERNAL_ERROR, error.to_string()))?;
        let token = format!("{TOKEN}{:032x}", u128::from_be_bytes(random));
        let asked = json!({ "method": question.method, "params": question.params });
        pending.answer = Some(question.answer);
        pending.since = Instant::now();
        let mut calls = self.calls();
        calls.retain(|_, pending| pending.since.elapsed() < PATIENCE);
        if calls.len() >= MOST {
            let what = format!("{MOST} calls wait for an answer already");
            return Err(Wrong::ClientReply(code::INTERNAL_ERROR, what));
        }
        calls.insert(token.clone(), pending);
        let result = json!({
            "resultType": "input_required",
            "requestState": token,
            "inputRequests": { ASKED: asked },
        });
        Ok(result.to_string())
    }

    /// A call that its client makes again, with the answer given; `None` where it is a first one.
    pub(super) fn again(
        &self,
        token: Option<&str>,
        called: &str,
        responses: &Value,
    ) -> Option<Result<PausedCall, Wrong>> {
        let token = token.filter(|token| token.starts_with(TOKEN))?;
        let wrong =
            |what: &str| Some(Err(Wrong::ClientReply(code::INVALID_PARAMS, what.to_owned())));
        let pending = self.calls().remove(token);
        let Some(mut pending) = pending else {
            return wrong("no such call waits for an answer (any more)");
        };
        if pending.called != called {
            return wrong("this is not the call that waits for an answer");
        }
        let Some(given) = responses.get(ASKED).filter(|given| given.is_object()) else {
            let what = format!("`inputResponses` has no `{ASKED}`");
            return wrong(&what);
        };
        // A call that was given up does not wait.
        pending.answer.take().map(|answer| answer.send(given.clone()));
        Some(Ok(pending))
    }
}

fn ended(outcome: Result<Result<String, Wrong>, tokio::task::JoinError>) -> Result<String, Wrong> {
    let broke =
        |error: tokio::task::JoinError| Wrong::ClientReply(code::INTERNAL_ERROR, error.to_string());
    outcome.map_err(broke)?
}
