use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use counterfoil_guard::{Answer, CallEvent, Guard, Session, Surroundings, ToolEvent};
use counterfoil_model::{Arguments, Presentation, Status, Tool, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::broadcast::Receiver;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::framing::write_message;
use super::lines::{Line, Lines};
use super::members::Members;
use super::message::{self, EXECUTION_ID, Message, code, id_of, traced};
use super::unreadable::TopLevel;

/// Supported protocol revisions, latest first.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision offered to a client that asks for an unknown one.
const LATEST: &str = "2025-11-25";

/// How long calls may continue after the client has closed its input.
const GRACE: Duration = Duration::from_secs(5);

/// Offers the tools of a guard to one client, until it is gone. Every call goes through
/// [`Session::call`](counterfoil_guard::Session::call); several run at once, and one that the client
/// cancels is given up.
///
/// # Errors
/// When a stream fails.
pub async fn serve(
    guard: &Guard,
    session: &Session,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut lines = Lines::new(input);
    let mut running = Running::default();
    let mut events = guard.events();
    loop {
        let answer = tokio::select! {
            line = lines.next() => match line? {
                None => break,
                Some(Line::Text(text)) => answer(guard, session, &text, &mut running),
                Some(Line::Unreadable(why, found)) => Some(found.refusal(why)),
            },
            update = running.says(session, &mut events), if running.are_some() => update,
        };
        if let Some(answer) = answer {
            write_message(&mut output, &answer).await?;
        }
    }
    let rest = async {
        while running.are_some() {
            if let Some(answer) = running.says(session, &mut events).await {
                write_message(&mut output, &answer).await?;
            }
        }
        Ok(())
    };
    // Even aborted calls have closed receipts.
    timeout(GRACE, rest).await.unwrap_or(Ok(()))
}

/// Calls in progress.
#[derive(Default)]
struct Running {
    calls: JoinSet<(String, String)>,
    /// Handles by call id.
    by_id: BTreeMap<String, AbortHandle>,
    /// The clients' progress tokens by call id.
    tokens: BTreeMap<String, String>,
}

impl Running {
    fn are_some(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The next message to the client about calls in progress: a requested progress update, or an
    /// answer.
    async fn says(
        &mut self,
        session: &Session,
        events: &mut Receiver<CallEvent>,
    ) -> Option<String> {
        tokio::select! {
            answer = self.next() => answer,
            // A missed update is followed by others.
            event = events.recv() => event.ok().and_then(|event| self.progress_update(session, &event)),
        }
    }

    /// The progress update for the client, if it requested any.
    fn progress_update(&self, session: &Session, event: &CallEvent) -> Option<String> {
        let ToolEvent::Progress { done, total, message } = &event.what else { return None };
        let token = self.tokens.get(&event.call.call_id);
        let token = token.filter(|_| event.call.session == session.id())?;
        let token: Value = serde_json::from_str(token).ok()?;
        let members = [
            ("progressToken", Some(token)),
            ("progress", Some(json!(done))),
            ("total", total.map(Value::from)),
            ("message", message.clone().map(Value::from)),
        ];
        let members =
            members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let params = Value::Object(members.collect());
        Some(message::notification("notifications/progress", &params))
    }

    /// The next answer; `None` if a call was aborted, or if there are no calls.
    async fn next(&mut self) -> Option<String> {
        match self.calls.join_next().await? {
            Ok((id, answer)) => {
                self.by_id.remove(&id);
                self.tokens.remove(&id);
                Some(answer)
            }
            Err(error) => {
                let mut open = self.by_id.iter();
                let id = open.find(|(_, call)| call.id() == error.id())?.0.clone();
                self.by_id.remove(&id);
                self.tokens.remove(&id);
                let wrong = "the call was interrupted by a bug in counterfoil";
                Some(message::error(Some(&id), code::INTERNAL_ERROR, wrong))
            }
        }
    }

    fn give_up(&mut self, params: Option<&RawValue>) {
        let id = params.and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok());
        let id = id.and_then(|members| id_of(members.get("requestId")?.get()));
        if let Some(call) = id.and_then(|id| self.by_id.remove(&id)) {
            call.abort();
        }
    }
}

/// The immediate response to a line; `None` for a notification, and for a call, which is started.
fn answer(guard: &Guard, session: &Session, text: &str, running: &mut Running) -> Option<String> {
    let message = match Message::read(text) {
        Ok(message) => message,
        Err(error) => return Some(TopLevel::parse(text.as_bytes()).refusal(&error.to_string())),
    };
    let (method, params) = (message.method.as_deref()?, message.params());
    let Some(id) = message.id.as_deref() else {
        if method == "notifications/cancelled" {
            running.give_up(params);
        }
        return None;
    };
    if let Some(odd) = message.odd_params() {
        return Some(message::error(Some(id), code::INVALID_PARAMS, &format!("`params`: {odd}")));
    }
    if running.by_id.contains_key(id) {
        let wrong = "a request with this id is still open";
        return Some(message::error(Some(id), code::INVALID_REQUEST, wrong));
    }
    Some(match method {
        "initialize" => message::result(id, &greeting(params)),
        "ping" => message::result(id, &json!({})),
        "tools/list" => {
            let offered = |tool: &&Tool| guard.never_runs(&tool.name).is_none();
            let tools: Vec<Value> = guard.catalog().iter().filter(offered).map(described).collect();
            message::result(id, &json!({ "tools": tools }))
        }
        "tools/call" => match params.map(|raw| serde_json::from_str::<CallParams<'_>>(raw.get())) {
            Some(Ok(request)) => {
                let around =
                    Surroundings { trace: traced(request.meta), ..Surroundings::default() };
                let token = member(request.meta, "progressToken");
                running.tokens.extend(token.map(|token| (id.to_owned(), token)));
                let call = called(id, request);
                let (session, own) = (session.clone(), id.to_owned());
                let call = async move { (own, answered(&session, call, around).await) };
                running.by_id.insert(id.to_owned(), running.calls.spawn(call));
                return None;
            }
            Some(Err(error)) => {
                message::error(Some(id), code::INVALID_PARAMS, &format!("`params`: {error}"))
            }
            None => message::error(Some(id), code::INVALID_PARAMS, "a tool call needs `params`"),
        },
        other => {
            let wrong = format!("there is no method `{other}`");
            message::error(Some(id), code::METHOD_NOT_FOUND, &wrong)
        }
    })
}

#[derive(Deserialize)]
#[serde(expecting = "an object with a `name`")]
struct CallParams<'m> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'m RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'m RawValue>,
}

/// The revision to use, given the one that a client asks for.
pub(crate) fn agreed(wanted: Option<&str>) -> &'static str {
    REVISIONS.iter().find(|known| Some(**known) == wanted).unwrap_or(&LATEST)
}

fn greeting(params: Option<&RawValue>) -> Value {
    let wanted = params.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let wanted = wanted.as_ref().and_then(|params| params.get("protocolVersion")?.as_str());
    json!({
        "protocolVersion": agreed(wanted),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "counterfoil", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn described(tool: &Tool) -> Value {
    let schema = tool.parameters.clone().unwrap_or_else(|| json!({ "type": "object" }));
    let Presentation { title, icons, annotations, meta } = tool.presentation.clone();
    let own = || json!({ "readOnlyHint": tool.effects.writes == Some(false) });
    let mut described = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema,
        "annotations": annotations.unwrap_or_else(own),
    });
    let more = [
        ("title", title.map(Value::from)),
        ("outputSchema", tool.output.clone()),
        ("icons", icons),
        ("_meta", meta),
    ];
    if let Some(members) = described.as_object_mut() {
        let more = more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        members.extend(more);
    }
    described
}

/// A member of an object, verbatim.
fn member(object: Option<&RawValue>, name: &str) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(object?.get()).ok()?;
    members.get(name).map(|raw| raw.get().to_owned())
}

fn called(id: &str, params: CallParams<'_>) -> ToolCall {
    let arguments = Arguments::raw(params.arguments.map_or("{}", RawValue::get));
    ToolCall { id: id.to_owned(), tool: params.name, arguments, line: 0 }
}

async fn answered(session: &Session, call: ToolCall, around: Surroundings) -> String {
    let id = call.id.clone();
    match session.call(call, around).await {
        Ok(answer) => message::result(&id, &result_of(&answer)),
        Err(error) => message::error(Some(&id), code::INTERNAL_ERROR, &error.to_string()),
    }
}

fn result_of(answer: &Answer) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let mut content = match answer.content.as_slice() {
        [] => vec![text(&answer.text)],
        blocks => blocks.to_vec(),
    };
    content.extend(answer.nudge.as_deref().map(text));
    let mut meta = answer.meta.clone().unwrap_or_else(|| json!({}));
    if let Some(members) = meta.as_object_mut() {
        members.insert(EXECUTION_ID.to_owned(), answer.execution_id.as_str().into());
    }
    let mut result = json!({
        "content": content,
        "isError": answer.status != Status::Completed,
        "_meta": meta,
    });
    let structured = answer.structured.as_ref().filter(|value| value.is_object());
    if let (Some(structured), Some(members)) = (structured, result.as_object_mut()) {
        members.insert("structuredContent".to_owned(), structured.clone());
    }
    result
}
