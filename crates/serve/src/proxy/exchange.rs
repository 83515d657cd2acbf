//! One request and its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use counterfoil_guard::{Asking, Clock as _};
use counterfoil_model::{Finding, Message, Role, Severity};
use counterfoil_providers::{Reply, Turn, Usage, written};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use hyper::{HeaderMap, Uri};
use serde_json::json;
use tokio::task::JoinHandle;

use super::Proxy;
use super::calls::{self, CallsJudged};
use super::judge::NotJudged;
use super::keys::VirtualKey;
use super::options::{OnTimeout, ProxyMode, ProxySettings};
use super::record::{NotRecorded, record};
use super::request::Asked;
use super::seen::{Exchanged, millis};
use super::sessions::Seen;
use super::shown::{Shown, Tampered, of_request, read_conversation};
use super::wire::Wire;

/// A request under way.
pub(super) struct Exchange {
    pub(super) proxy: Arc<Proxy>,
    pub(super) settings: Arc<ProxySettings>,
    pub(super) asked: Asked,
    /// Who asks, where keys of ours are used.
    pub(super) owner: Option<String>,
    /// Where it goes, and with which headers.
    pub(super) to: Uri,
    pub(super) headers: HeaderMap,
    pub(super) began: Instant,
    /// What is different about the tools.
    pub(super) tools: Option<String>,
    preparing: Preparing,
}

/// What a request shows, and its session.
pub(super) struct Prepared {
    pub(super) shown: Arc<Shown>,
    pub(super) seen: Arc<Seen>,
    recording: tokio::sync::Mutex<Option<JoinHandle<Result<(), NotRecorded>>>>,
}

type Preparing = Shared<BoxFuture<'static, Result<Arc<Prepared>, String>>>;

/// What is to be said about an answer.
#[derive(Debug, Default)]
pub(super) struct Conclusion {
    pub(super) findings: Vec<Finding>,
    pub(super) calls: CallsJudged,
    /// Why something of it was not judged.
    pub(super) unjudged: Option<String>,
}

impl Conclusion {
    fn not_judged(why: impl ToString) -> Self {
        Self { unjudged: Some(why.to_string()), ..Self::default() }
    }

    /// What is said of an answer with which nothing is done.
    pub(super) fn passed(&self) -> &'static str {
        if self.unjudged.is_some() { "not judged" } else { "passed" }
    }

    /// What is bad enough for something to be done.
    pub(super) fn bad(&self, least: Severity) -> Vec<Finding> {
        self.findings.iter().filter(|finding| finding.severity >= least).cloned().collect()
    }
}

/// What became of an answer.
#[derive(Debug, Default)]
pub(super) struct Became {
    pub(super) what: &'static str,
    pub(super) status: u16,
    /// The model's words, which were judged.
    pub(super) judged: String,
    /// What the client has of it.
    pub(super) said: Said,
    /// What was found in the better answer, where there is one: its words are what the client has.
    pub(super) better: Option<Vec<Finding>>,
    /// The server's name of it.
    pub(super) response: Option<String>,
    pub(super) corrections: u32,
    pub(super) usage: Usage,
}

/// The agent's message as its client has it.
#[derive(Debug, Default, Clone)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) calls: Vec<counterfoil_model::ToolCall>,
}

/// Begins to read what a request shows, while the request goes on.
pub(super) fn preparing(proxy: &Arc<Proxy>, asked: &Asked, owner: Option<&str>) -> Preparing {
    let (proxy, asked, owner) = (Arc::clone(proxy), asked.clone(), owner.map(str::to_owned));
    let task = tokio::spawn(prepare(proxy, asked, owner));
    async move { task.await.unwrap_or_else(|error| Err(error.to_string())) }.boxed().shared()
}

async fn prepare(
    proxy: Arc<Proxy>,
    asked: Asked,
    owner: Option<String>,
) -> Result<Arc<Prepared>, String> {
    let reading = Arc::clone(&proxy);
    let read = tokio::task::spawn_blocking(move || {
        let Proxy { guard, lists, sessions, .. } = &*reading;
        let mut shown = of_request(guard, lists, &asked);
        let found = sessions.of(guard, &asked, owner.as_deref(), &shown.transcript);
        let (seen, first) = found.map_err(|error| error.to_string())?;
        shown.complete(guard, &asked, &seen);
        Ok((Arc::new(shown), seen, first))
    });
    let (shown, seen, first) = read.await.unwrap_or_else(|error| Err(error.to_string()))?;
    let (guard, known, new) = (proxy.guard.clone(), Arc::clone(&seen), Arc::clone(&shown));
    let recording = tokio::spawn(async move { record(&guard, &known, &new, first).await });
    Ok(Arc::new(Prepared { shown, seen, recording: tokio::sync::Mutex::new(Some(recording)) }))
}

impl Exchange {
    pub(super) fn new(
        proxy: Arc<Proxy>,
        settings: Arc<ProxySettings>,
        asked: Asked,
        owner: Option<String>,
        (to, headers): (Uri, HeaderMap),
    ) -> Self {
        let preparing = preparing(&proxy, &asked, owner.as_deref());
        let began = Instant::now();
        Self { proxy, settings, asked, owner, to, headers, began, tools: None, preparing }
    }

    /// What the request shows.
    pub(super) async fn prepared(&self) -> Result<Arc<Prepared>, String> {
        self.preparing.clone().await
    }

    pub(super) fn wire(&self) -> Wire {
        self.asked.wire
    }

    pub(super) fn mode(&self) -> ProxyMode {
        self.settings.mode
    }

    /// How long a judgement may take; whoever holds waits for it.
    pub(super) fn limit(&self) -> Option<Duration> {
        (self.settings.on_timeout == OnTimeout::Pass).then_some(self.settings.verify)
    }

    /// What is wrong with the beginning of an answer.
    pub(super) async fn judge_text(&self, text: &str) -> Result<Vec<Finding>, String> {
        let prepared = self.prepared().await?;
        let answer = vec![Message::text(Role::Assistant, text)];
        let judged = self.judge(&prepared, answer, self.limit()).await;
        let findings = judged.map_err(|error| error.to_string())?;
        let least = self.settings.least;
        Ok(findings.into_iter().filter(|finding| finding.severity >= least).collect())
    }

    async fn judge(
        &self,
        prepared: &Prepared,
        answer: Vec<Message>,
        limit: Option<Duration>,
    ) -> Result<Vec<Finding>, NotJudged> {
        let Proxy { guard, judges, .. } = &*self.proxy;
        judges.judge(guard, &prepared.shown, answer, limit).await
    }

    /// What is to be said about an answer: its words, behind those that stand before it, and its
    /// calls.
    pub(super) async fn conclude(
        &self,
        reply: &Reply,
        before: &str,
        limit: Option<Duration>,
    ) -> Conclusion {
        if self.asked.choices > 1 {
            return Conclusion::not_judged("it has several choices");
        }
        let prepared = match self.prepared().await {
            Ok(prepared) => prepared,
            Err(why) => return Conclusion::not_judged(why),
        };
        let answer = messages(self.wire(), reply, before);
        let Prepared { shown, seen, .. } = &*prepared;
        let asking = if self.mode().holds() { Asking::Nobody } else { Asking::Person };
        let calls = calls::judge(&self.proxy.guard, seen, shown, &answer, asking).await;
        let findings = self.judge(&prepared, answer, limit).await;
        let mut conclusion = Conclusion::default();
        match calls {
            Ok(calls) => conclusion.calls = calls,
            Err(error) => {
                conclusion.calls.passed.clone_from(&reply.calls);
                conclusion.unjudged = Some(error.to_string());
            }
        }
        match findings {
            Ok(findings) => conclusion.findings = findings,
            Err(error) => conclusion.unjudged = Some(error.to_string()),
        }
        conclusion
    }

    /// Writes down what became of the answer.
    pub(super) async fn done(&self, conclusion: &Conclusion, became: Became) {
        let Became { what, status, judged, said, better, response, corrections, usage } = became;
        let mut notes: Vec<String> = conclusion.unjudged.iter().map(not_judged).collect();
        notes.extend(conclusion.calls.notes.iter().cloned());
        let prepared = self.prepared().await;
        if let Ok(prepared) = &prepared {
            notes.extend(prepared.shown.tampered.iter().map(told));
            let words = Words { judged: &judged, said: &said.text, better: better.as_deref() };
            notes.extend(self.recorded(prepared, conclusion, what == "held", words).await);
            let mut conversation = prepared.shown.transcript.messages.clone();
            let calls = said.calls.clone();
            conversation.push(Message { calls, ..Message::text(Role::Assistant, &said.text) });
            let Proxy { sessions, .. } = &*self.proxy;
            let owner = self.owner.as_deref();
            sessions.link(&prepared.seen, owner, response.as_deref(), conversation);
            let mut state = prepared.seen.state();
            state.findings += conclusion.findings.len() as u64;
            state.refused += conclusion.calls.refused.len() as u64;
            state.held += u64::from(matches!(what, "held" | "corrected"));
        }
        if let Some(key) = self.key() {
            key.spend(usage);
        }
        let findings = conclusion.findings.iter();
        self.proxy.log.add(Exchanged {
            at: self.proxy.clock.wall().try_into().unwrap_or_default(),
            session: match prepared {
                Ok(prepared) => prepared.seen.session.id().to_owned(),
                Err(why) => {
                    notes.push(format!("the request is not recorded: {why}"));
                    String::new()
                }
            },
            wire: self.wire().name(),
            model: self.asked.model.clone(),
            key: self.owner.clone(),
            streamed: self.asked.streams,
            status,
            became: what,
            findings: findings.map(|f| format!("{} {}", f.code, f.severity.name())).collect(),
            refused: conclusion.calls.refused.iter().map(|r| r.call.tool.clone()).collect(),
            corrections,
            tools: self.tools.clone(),
            notes,
            input_tokens: usage.input,
            output_tokens: usage.output,
            took: millis(self.began.elapsed()),
        });
    }

    fn key(&self) -> Option<&VirtualKey> {
        let owner = self.owner.as_deref()?;
        self.settings.keys.iter().find(|key| key.name == owner)
    }

    /// Writes the judgement into the ledger, behind what the request told; what failed.
    async fn recorded(
        &self,
        prepared: &Prepared,
        conclusion: &Conclusion,
        held: bool,
        words: Words<'_>,
    ) -> Vec<String> {
        let mut failed = Vec::new();
        if let Some(recording) = prepared.recording.lock().await.take() {
            match recording.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => failed.push(error.to_string()),
                Err(error) => failed.push(error.to_string()),
            }
        }
        let _in_order = prepared.seen.recording.lock().await;
        let (guard, session) = (&self.proxy.guard, &prepared.seen.session);
        let mut recorded = Vec::new();
        if !words.judged.trim().is_empty() {
            recorded.push(guard.judged(session, words.judged, &conclusion.findings).await);
        }
        if held || words.better.is_some() {
            // Only that it was: what is wrong with it quotes what was made up.
            recorded.push(guard.hear(session, Role::System, HELD_BACK).await);
        }
        if let Some(findings) = words.better {
            recorded.push(guard.judged(session, words.said, findings).await);
        }
        failed.extend(recorded.into_iter().filter_map(Result::err).map(|e| e.to_string()));
        failed.into_iter().map(|why| format!("something is not recorded: {why}")).collect()
    }
}

/// What a record says of an answer that its client did not get.
const HELD_BACK: &str = "The answer was held back.";

/// What was said, and what of it its client has.
struct Words<'w> {
    judged: &'w str,
    said: &'w str,
    better: Option<&'w [Finding]>,
}

fn not_judged(why: &String) -> String {
    format!("an answer was not judged: {why}")
}

fn told(tampered: &Tampered) -> String {
    match tampered {
        Tampered::Changed { call_id, tool } => format!(
            "FK040: the client tells another result of `{tool}` ({call_id}) than it reported first"
        ),
        Tampered::Dropped { call_id } => {
            format!("FK040: the client has left out the result of {call_id}, which it had reported")
        }
    }
}

/// An answer as messages of a conversation: what the server did itself, then its words and calls.
fn messages(wire: Wire, reply: &Reply, before: &str) -> Vec<Message> {
    let mut messages = Vec::new();
    if !reply.kept.is_empty() {
        let kept =
            Turn::Assistant { text: String::new(), calls: Vec::new(), kept: reply.kept.clone() };
        let entries = written(wire.kind(), &[kept]);
        let body = json!({ "messages": entries.clone(), "input": entries });
        messages = read_conversation(wire, body.to_string().as_bytes()).messages;
    }
    let calls = reply.calls.clone();
    let text = format!("{before}{}", reply.text);
    messages.push(Message { calls, ..Message::text(Role::Assistant, text) });
    messages
}
