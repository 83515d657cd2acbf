use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_admission::{CallReport, writings};
use counterfoil_guard::{
    Answer, Before, BeginSessionError, CallError, GateId, Guard, HostEnded, HostedCall, Judged,
    Ledger, Listed, PersonsAnswer, Reason, Session, SessionStart, Surroundings,
};
use counterfoil_model::{Arguments, Origin, Status, ToolCall, ToolErrorCategory};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::Call;
use super::duplicates::twice;
use super::failures::{denied, gone, not_recorded};
use super::framing::lined;
use super::held::{Held, Wire, elicits};
use super::meant::message_as_meant;
use super::members::{Members, member};
use super::message::{self, Message, code, id_of, traced};
use super::methods::misspelt;
use super::open_tasks::{Tasks, takes_tasks};
use super::pins::Pins;
use super::tools::{Offered, Watch};
use super::unreadable::TopLevel;
use super::waiting::Waiting;

/// Sits between an MCP client and one server.
///
/// A tool call is validated against the schema that the server offered, judged by the guard's gates
/// and recorded before it is forwarded; its result is recorded before it is returned. Everything
/// else passes as written, on one line.
pub struct Gateway {
    pub(super) guard: Guard,
    pub(super) session: Session,
    /// The server's name in records.
    pub(super) server: Arc<str>,
    pub(super) watch: Option<Arc<Watch>>,
    /// Whether secrets in results are also kept from the client.
    pub(super) redacts: bool,
    /// Held while the gateway lists the tools itself.
    pub(super) listing: Arc<tokio::sync::Mutex<()>>,
    /// Whether its client is one of many without a session, and who that is, as far as it says so.
    pub(super) alone: bool,
    pub(super) client: Option<String>,
    /// Whether it serves several servers, whose questions already name the one that asks.
    pub(super) several: bool,
    shared: Arc<Mutex<Shared>>,
    state: Mutex<State>,
}

/// The gateway's session could not begin.
#[derive(Debug, thiserror::Error)]
#[error("the session cannot begin: {0}")]
pub struct GatewayError(#[from] BeginSessionError);

/// What to do with a message from the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Forward this to the server.
    Forward(String),
    /// Return this to the client, without forwarding anything.
    Answer(String),
}

/// State shared by all connections to one server.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) offered: Offered,
    /// Calls waiting for a person, by the id of our question.
    pub(super) held_calls: BTreeMap<String, Held>,
    pub(super) tasks: Tasks,
}

/// The state of one connection.
#[derive(Default)]
pub(super) struct State {
    /// Requests that the server has not answered yet, by the canonical text of their id.
    pub(super) waiting: BTreeMap<String, Waiting>,
    /// Requests from the server that the client has not answered yet, by id, oldest first.
    pub(super) questions: VecDeque<String>,
    /// Whether the client can ask a person.
    pub(super) elicits: bool,
    /// Number of answers to no known request.
    pub(super) strays: usize,
    /// Whether the client declared in its greeting that any of its calls may become a task.
    takes_tasks: bool,
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
#[serde(expecting = "an object with a `name`")]
struct CallParams<'m> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'m RawValue>,
}

impl Gateway {
    /// Creates a gateway in front of a server with this name, with a new or resumed session.
    ///
    /// # Errors
    /// When the session cannot begin.
    pub fn new(guard: Guard, start: SessionStart, server: &str) -> Result<Self, GatewayError> {
        let session = guard.host_session(start)?;
        session.keep_lean();
        Ok(Self {
            guard,
            session,
            server: server.into(),
            watch: None,
            redacts: false,
            listing: Arc::default(),
            alone: false,
            several: false,
            client: None,
            shared: Arc::default(),
            state: Mutex::default(),
        })
    }

    /// A gateway with the same server and session for another client, whose requests may use the
    /// same ids. In the protocol without sessions, each request is independent.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            guard: self.guard.clone(),
            session: self.session.clone(),
            server: Arc::clone(&self.server),
            watch: self.watch.clone(),
            redacts: self.redacts,
            listing: Arc::clone(&self.listing),
            alone: true,
            several: self.several,
            client: None,
            shared: Arc::clone(&self.shared),
            state: Mutex::default(),
        }
    }

    /// Like [`Gateway::another`], for a client that can be distinguished from others by these words.
    /// Its tasks are its own.
    #[must_use]
    pub fn another_for(&self, client: &str) -> Self {
        Self { client: Some(client.to_owned()), ..self.another() }
    }

    /// Compares the server's tools with their first version and reports changes. With `hold`,
    /// changed tools do not run until a person accepts them.
    #[must_use]
    pub fn watching(self, pins: Pins, hold: bool) -> Self {
        Self { watch: Some(Arc::new(Watch { pins, hold })), ..self }
    }

    /// Removes secrets from results. Strings remain strings, so that a result still matches its
    /// tool's declared schema.
    #[must_use]
    pub fn redacting(self, redacts: bool) -> Self {
        Self { redacts, ..self }
    }

    /// Sets whether it serves several servers, whose questions already name the one that asks.
    pub(crate) fn of_several(self, several: bool) -> Self {
        Self { several, ..self }
    }

    /// The session in which calls are recorded.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The ledger with its receipts.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        self.guard.ledger()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a line from the client: one message, or several in a list.
    pub async fn from_client(&self, line: &str) -> Vec<Step> {
        let Ok(parts) = message::parts(line) else {
            let wrong = "the batch is not JSON";
            return vec![Step::Answer(message::error(None, code::PARSE_ERROR, wrong))];
        };
        let mut steps = Vec::with_capacity(parts.len());
        for one in parts {
            steps.extend(self.message(one).await);
        }
        let on_one_line = |step| match step {
            Step::Forward(text) => Step::Forward(lined(text)),
            Step::Answer(text) => Step::Answer(lined(text)),
        };
        steps.into_iter().map(on_one_line).collect()
    }

    async fn message(&self, text: &str) -> Option<Step> {
        let message = match Message::read(text) {
            Ok(message) => message,
            Err(error) => {
                let refusal = TopLevel::parse(text.as_bytes()).refusal(&error.to_string());
                return Some(Step::Answer(refusal));
            }
        };
        let forward = Step::Forward(text.trim().to_owned());
        let (Some(method), id) = (message.method.as_deref(), message.id.as_deref()) else {
            return self.question_answered(&message, forward).await;
        };
        let Some(id) = id else { return self.notified(&message, method, forward).await };
        if let Some(odd) = misspelt(method) {
            return Some(Step::Answer(message::error(Some(id), code::METHOD_NOT_FOUND, &odd)));
        }
        if let Some(odd) = message.odd_params() {
            let answer =
                message::error(Some(id), code::INVALID_PARAMS, &format!("`params`: {odd}"));
            return Some(Step::Answer(answer));
        }
        if self.state().waiting.contains_key(id) {
            let wrong = "a request with this id is still open";
            return Some(Step::Answer(message::error(Some(id), code::INVALID_REQUEST, wrong)));
        }
        if method == "tools/call" {
            return Some(self.call(&message, text, id).await);
        }
        if let Some(refusal) = self.refusal(&message, text, id).await {
            return Some(Step::Answer(refusal));
        }
        if method == "initialize" {
            let params = message.params().and_then(|raw| {
                serde_json::from_str::<Members<'_>>(raw.get()).ok()?.get("capabilities")
            });
            let able: Option<Value> = params.and_then(|raw| serde_json::from_str(raw.get()).ok());
            let mut state = self.state();
            state.elicits = able.as_ref().is_some_and(elicits);
            state.takes_tasks = takes_tasks(params, true);
        }
        self.state().waiting.insert(id.to_owned(), Waiting::new(&message, method));
        Some(forward)
    }

    /// Handles a notification from the client.
    async fn notified(&self, message: &Message<'_>, method: &str, forward: Step) -> Option<Step> {
        if let Some(odd) = misspelt(method).or_else(|| message.odd_params()) {
            tracing::warn!("dropped a notification from the client: {odd}");
            return None;
        }
        match method {
            "tools/call" => {
                tracing::warn!(
                    "dropped a tool call without an id: its result could not be returned"
                );
                None
            }
            "notifications/cancelled" => self.cancelled(message, forward).await,
            _ => Some(forward),
        }
    }

    /// The answer to a request other than a call that does not reach the server.
    async fn refusal(&self, message: &Message<'_>, text: &str, id: &str) -> Option<String> {
        if let Some(name) = twice(text) {
            let what = format!("the member `{name}` appears twice");
            return Some(message::error(Some(id), code::INVALID_PARAMS, &what));
        }
        if let Some(refusal) = self.not_its_task(message, id) {
            return Some(refusal);
        }
        let why = self.resource_denied(message.method.as_deref()?, message).await?;
        Some(message::error(Some(id), code::INVALID_REQUEST, &why))
    }

    /// Handles a cancellation by the client. The call's receipt is closed, and any later answer
    /// from the server is dropped.
    async fn cancelled(&self, message: &Message<'_>, forward: Step) -> Option<Step> {
        let id = message.cancels()?;
        let (waiting, held) = {
            let mut shared = self.shared();
            let question = shared.held_calls.iter().find(|(_, held)| held.is_of(&id));
            let question = question.map(|(question, _)| question.clone());
            let held = question.and_then(|question| shared.held_calls.remove(&question));
            (self.cancel_waiting(&id, held.is_some()), held)
        };
        let closed = match (held, waiting) {
            (Some(held), _) => {
                self.give_up(&held, PersonsAnswer::Withdrawn).await;
                Ok(None)
            }
            (None, Some(Waiting::Call(call))) => {
                let why = "the client cancelled the call; the server may have executed it anyway";
                let ended = gone(Status::Cancelled, ToolErrorCategory::Cancelled, why);
                self.close(&call, ended).await.map(|_| Some(forward))
            }
            // The server may know another client's request by this id.
            (None, None) if self.alone => Ok(None),
            (None, _) => Ok(Some(forward)),
        };
        closed.unwrap_or_else(|error| {
            tracing::error!("cannot record the end of a call: {error}");
            None
        })
    }

    /// Takes a cancelled request. If the server got it, its id stays in use until it is answered.
    fn cancel_waiting(&self, id: &str, held: bool) -> Option<Waiting> {
        let mut state = self.state();
        let waiting = state.waiting.remove(id)?;
        if !held {
            state.waiting.insert(id.to_owned(), Waiting::Cancelled);
        }
        Some(waiting)
    }

    /// Takes a request that will not be answered; `None` if its client does not wait for it.
    fn take_waiting(&self, id: &str) -> Option<Waiting> {
        let mut state = self.state();
        // A server may still answer a cancelled request in another way.
        let waits = state.waiting.get(id).is_some_and(Waiting::is_open);
        if waits { state.waiting.remove(id) } else { None }
    }

    /// Handles a tool call.
    async fn call(&self, message: &Message<'_>, text: &str, id: &str) -> Step {
        let refused = |code: i32, what: &str| Step::Answer(message::error(Some(id), code, what));
        let Some(params) = message.params() else {
            return refused(code::INVALID_PARAMS, "a tool call needs `params` with a `name`");
        };
        let (params, members): (CallParams<'_>, Members<'_>) =
            match (serde_json::from_str(params.get()), serde_json::from_str(params.get())) {
                (Ok(params), Ok(members)) => (params, members),
                (Err(error), _) | (_, Err(error)) => {
                    return refused(code::INVALID_PARAMS, &format!("`params`: {error}"));
                }
            };
        let wire = Wire::new(&members);
        if let Some(step) = self.made_again(wire, id, &members).await {
            return step;
        }
        let call = ToolCall {
            id: id.to_owned(),
            tool: params.name,
            arguments: Arguments::raw(params.arguments.map_or("{}", RawValue::get)),
            line: 0,
        };
        let as_task = members.get("task").is_some()
            || self.state().takes_tasks
            || takes_tasks(members.get("_meta"), false);
        let trace = traced(members.get("_meta"));
        let around = Surroundings { trace, ..Surroundings::default() };
        let (known, held) = {
            let shared = self.shared();
            (shared.offered.known(&call.tool), shared.offered.is_held(&call.tool))
        };
        if known.is_none() && self.watch.as_ref().is_some_and(|watch| watch.hold) {
            let what = "list the tools first, so that they can be checked for changes: changed \
                        tools are blocked";
            return refused(code::INVALID_REQUEST, what);
        }
        if held {
            let reasons = vec![changed(&call.tool)];
            let hosted = self.of_unknown(call);
            let denied = self.session.deny(&hosted, &around, reasons).await;
            return self.judged_or_error(wire, (id, String::new()), (hosted, as_task), denied);
        }
        let asking = self.asking(wire).await;
        let Some(known) = known else {
            let hosted = self.of_unknown(self.by_its_denied_name(call));
            let before = self.session.before(&hosted, &around, asking).await;
            let line = message_as_meant(&hosted, message, &members, text);
            return self.judged_or_error(wire, (id, line), (hosted, as_task), before);
        };
        let listed = self.session.before_listed(call, &known, &around, asking).await;
        match listed {
            Err(error) => internal(id, &error),
            Ok(Listed::Judged(hosted, before)) => {
                let line = message_as_meant(&hosted, message, &members, text);
                self.judged(wire, (id, line), (*hosted, as_task), before)
            }
            Ok(Listed::Refused(answer, report)) => refused_call((wire, id), &answer, &report),
        }
    }

    fn of_unknown(&self, call: ToolCall) -> HostedCall {
        HostedCall::of_unknown(call, Origin::Mcp { server: self.server.as_ref().to_owned() })
    }

    pub(super) fn judged_or_error(
        &self,
        wire: Wire,
        (id, line): (&str, String),
        call: (HostedCall, bool),
        before: Result<Before, CallError>,
    ) -> Step {
        match before {
            Ok(before) => self.judged(wire, (id, line), call, before),
            Err(error) => internal(id, &error),
        }
    }

    /// A call of which no list says what its tool is called. A server may take another writing of the
    /// name, as it is taken once the list is known: where one of them never runs, the call is judged by
    /// that one.
    pub(super) fn by_its_denied_name(&self, call: ToolCall) -> ToolCall {
        if self.guard.never_runs(&call.tool).is_some() {
            return call;
        }
        // Where nothing runs that no rule allows, other writings are not denied by their names.
        let unnamed = self.guard.never_runs("");
        let is_denied = |name: &String| {
            let why = self.guard.never_runs(name);
            why.is_some() && why != unnamed
        };
        let denied = writings(&call.tool).find(is_denied);
        match denied {
            Some(tool) => ToolCall { tool, ..call },
            None => call,
        }
    }

    /// What becomes of a call that fits its tool.
    fn judged(
        &self,
        wire: Wire,
        (id, line): (&str, String),
        (hosted, as_task): (HostedCall, bool),
        before: Before,
    ) -> Step {
        match before.judged {
            Judged::Denied(reasons) => {
                let id_beside = |id: &str| self.guard.id_beside(id);
                let beside = before.execution_id.as_deref().and_then(id_beside);
                let texts: Vec<String> = std::iter::once(denied(&reasons)).chain(beside).collect();
                let result = message::failed(&texts.join("\n"), before.execution_id.as_deref());
                Step::Answer(wire.result(id, result))
            }
            Judged::Allowed { .. } => {
                let call = Call { hosted, execution_id: before.execution_id, as_task };
                self.state().waiting.insert(id.to_owned(), Waiting::Call(Box::new(call)));
                Step::Forward(line)
            }
            Judged::NeedsApproval(questions) => {
                let call = Call { hosted, execution_id: None, as_task };
                match before.undecided {
                    Some(undecided) => self.ask(wire, (id, line), (call, undecided), &questions),
                    None => Step::Answer(message::error(
                        Some(id),
                        code::INTERNAL_ERROR,
                        "the call needs approval, and this client cannot ask its user",
                    )),
                }
            }
        }
    }

    /// Closes the receipt of a call. Returns a note for the model to accompany the result.
    pub(super) async fn close(
        &self,
        call: &Call,
        ended: HostEnded,
    ) -> Result<Option<String>, CallError> {
        let around = Surroundings::default();
        self.session.after(&call.hosted, &around, ended).await
    }

    /// Ends everything that is open, for the given reason, and closes the receipts of calls.
    /// Returns messages for the client, if it is still listening.
    pub async fn end(&self, cancelled: bool, why: &str) -> Vec<String> {
        let waiting = std::mem::take(&mut self.state().waiting);
        let held_calls = std::mem::take(&mut self.shared().held_calls);
        for held in held_calls.values() {
            self.give_up(held, PersonsAnswer::Missing).await;
        }
        let mut answers = Vec::with_capacity(waiting.len());
        for (id, waiting) in waiting {
            // The client does not know of our own requests.
            let expects_answer = waiting.is_open() && !matches!(waiting, Waiting::OwnTools { .. });
            self.closed(waiting, cancelled, why).await;
            if !expects_answer {
                continue;
            }
            answers.push(message::error(Some(&id), code::SERVER_GONE, why));
        }
        self.end_tasks(why).await;
        if let Err(error) = self.session.end().await {
            tracing::error!("cannot record the end of the session: {error}");
        }
        answers
    }

    /// The schema of the tool that a message calls, if known.
    pub(crate) fn schema_of_call(&self, message: &Message<'_>) -> Option<Value> {
        if message.method.as_deref() != Some("tools/call") {
            return None;
        }
        let name = message.params().and_then(|raw| member(raw, "name"))?;
        let known = self.shared().offered.known(name.as_str()?)?;
        known.get(name.as_str()?)?.parameters.clone()
    }

    /// Ends a request that will not be answered, for the given reason. Returns the error for the
    /// client, unless it was answered before.
    pub async fn lost(&self, id: &str, cancelled: bool, why: &str) -> Option<String> {
        let id = id_of(id)?;
        let waiting = self.take_waiting(&id)?;
        self.closed(waiting, cancelled, why).await;
        Some(message::error(Some(&id), code::SERVER_GONE, why))
    }

    /// Like [`Gateway::lost`], for an answer that was received but cannot be read.
    pub(crate) async fn unread(&self, id: &str, why: &str) -> Option<String> {
        let id = id_of(id)?;
        let waiting = self.take_waiting(&id)?;
        self.closed(waiting, false, why).await;
        Some(message::error(Some(&id), code::INTERNAL_ERROR, why))
    }

    async fn closed(&self, waiting: Waiting, cancelled: bool, why: &str) {
        let Waiting::Call(call) = waiting else { return };
        let ended = match cancelled {
            true => gone(Status::Cancelled, ToolErrorCategory::Cancelled, why),
            false => gone(Status::Failed, ToolErrorCategory::ServerError, why),
        };
        if let Err(error) = self.close(&call, ended).await {
            tracing::error!("cannot record the end of a call: {error}");
        }
    }

    /// The ids of unanswered requests.
    #[must_use]
    pub fn open(&self) -> BTreeSet<String> {
        let state = self.state();
        let open = state.waiting.iter().filter(|(_, waiting)| waiting.is_open());
        open.map(|(id, _)| id.clone()).collect()
    }
}

fn internal(id: &str, error: &CallError) -> Step {
    Step::Answer(message::error(Some(id), code::INTERNAL_ERROR, &not_recorded(error)))
}

/// The answer to a call that does not match what the server offers.
fn refused_call((wire, id): (Wire, &str), answer: &Answer, report: &CallReport) -> Step {
    let unknown = report.blocking().find(|issue| issue.code.0 == "UNKNOWN_TOOL");
    Step::Answer(match unknown {
        Some(unknown) => message::error(Some(id), code::INVALID_PARAMS, &unknown.message),
        None => wire.result(id, message::failed(&answer.text, Some(&answer.execution_id))),
    })
}

/// The denial of a call whose tool is new or has changed since the server was first seen.
fn changed(tool: &str) -> Reason {
    Reason {
        gate: GateId("definition"),
        code: "definition_changed",
        message: format!("`{tool}` is new or has changed since the server was first seen"),
        matched: None,
        help: Some(
            "ask the user to run `counterfoil mcp inspect` on this MCP server, with the command or \
             the URL from the client's configuration, and to add `--accept` if the change is fine"
                .to_owned(),
        ),
    }
}
