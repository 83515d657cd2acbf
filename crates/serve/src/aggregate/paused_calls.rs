//! Calls that are paused for input. A server with sessions asks for input during a call. A client
//! without a session is asked in the result, and repeats the call with the answer; until then the
//! call is kept here.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_guard::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::request::Wrong;
use crate::client::Responder;
use crate::mcp::code;

/// Prefix of the tokens of paused calls.
const TOKEN: &str = "bridge-";

/// How long a call waits for its client, and how many may wait at once.
const PATIENCE: Duration = Duration::from_secs(600);
const MOST: usize = 256;

/// The name of the question in the result for the client.
const QUESTION: &str = "asked";

/// Calls that are waiting for their clients.
#[derive(Default)]
pub(super) struct PausedCalls(Mutex<BTreeMap<String, PausedCall>>);

/// A call in progress, and the questions of its server.
pub(super) struct PausedCall {
    /// The name and arguments of the call; the repeated call must be identical.
    called: String,
    outcome: JoinHandle<Result<String, Wrong>>,
    questions: mpsc::Receiver<Question>,
    answer: Option<oneshot::Sender<Value>>,
    since: Instant,
}

/// A question from a server.
pub(super) struct Question {
    method: String,
    params: Value,
    answer: oneshot::Sender<Value>,
}

/// Passes a server's questions to the client of the call.
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
            // Do not ask for anything outside the declared capabilities.
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

    /// Waits for the next event of a call: its result, or a question.
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
        let request = json!({ "method": question.method, "params": question.params });
        pending.answer = Some(question.answer);
        pending.since = Instant::now();
        let mut calls = self.calls();
        calls.retain(|_, pending| pending.since.elapsed() < PATIENCE);
        if calls.len() >= MOST {
            let what = format!("{MOST} calls are already waiting for an answer");
            return Err(Wrong::ClientReply(code::INTERNAL_ERROR, what));
        }
        calls.insert(token.clone(), pending);
        let result = json!({
            "resultType": "input_required",
            "requestState": token,
            "inputRequests": { QUESTION: request },
        });
        Ok(result.to_string())
    }

    /// The paused call that a client repeats with an answer; `None` if this is a first call.
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
            return wrong("no such call is waiting for an answer");
        };
        if pending.called != called {
            return wrong("this is not the call that is waiting for an answer");
        }
        let Some(given) = responses.get(QUESTION).filter(|given| given.is_object()) else {
            let what = format!("`inputResponses` has no `{QUESTION}`");
            return wrong(&what);
        };
        // An abandoned call has no receiver any more.
        pending.answer.take().map(|answer| answer.send(given.clone()));
        Some(Ok(pending))
    }
}

fn ended(outcome: Result<Result<String, Wrong>, tokio::task::JoinError>) -> Result<String, Wrong> {
    let broke =
        |error: tokio::task::JoinError| Wrong::ClientReply(code::INTERNAL_ERROR, error.to_string());
    outcome.map_err(broke)?
}
