//! A request and its answer.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use counterfoil_guard::{Asking, Clock as _};
use counterfoil_model::{EvidenceSource, Finding, Message, Role, Span, Subject, ToolCall};
use counterfoil_providers::{Reply, Turn, Usage, written};
use counterfoil_rules::{LONGEST_ANSWER, set_aside_feedback};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use hyper::{HeaderMap, Uri};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::calls;
use crate::conclusion::{Became, Conclusion};
use crate::judge::NotJudged;
use crate::keys::VirtualKey;
use crate::options::{ProxyMode, ProxySettings};
use crate::plain::Plain;
use crate::record::record;
use crate::request::ModelRequest;
use crate::seen::{Exchanged, Open, millis};
use crate::sessions::{Announced, Seen, linked};
use crate::shown::{Shown, Tampered, of_request, read_conversation};
use crate::wire::Wire;
use crate::{Busy, Proxy, shape};

/// A request in progress.
pub(crate) struct Exchange {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) settings: Arc<ProxySettings>,
    pub(crate) request: ModelRequest,
    /// The name of the proxy key that was used.
    pub(crate) key: Option<String>,
    /// The requester. A requester cannot use others' sessions.
    pub(crate) owner: String,
    /// The target address and the headers.
    pub(crate) to: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) began: Instant,
    /// What was changed about the tools.
    pub(crate) tools: Option<String>,
    /// Its answer, once its client may know how to continue from it.
    pub(crate) announced: Mutex<Vec<Announced>>,
    preparing: Preparing,
    _open: Open,
}

/// What a request shows, and its session.
pub(crate) struct Prepared {
    pub(crate) shown: Arc<Shown>,
    pub(crate) seen: Arc<Seen>,
    recording: Recording,
}

/// The recording of a request. Its result is the reason why something was not recorded, if any.
type Recording = Shared<BoxFuture<'static, Option<String>>>;

impl Prepared {
    /// Waits until the request is recorded. Returns why something was not recorded, if anything.
    pub(crate) async fn recorded(&self) -> Option<String> {
        self.recording.clone().await
    }
}

type Preparing = Shared<BoxFuture<'static, Result<Arc<Prepared>, String>>>;

/// The position of the claim that a finding is about.
fn span_of(finding: &Finding) -> Option<Span> {
    match &finding.subject {
        Subject::Claim { span, .. } => Some(*span),
        Subject::Call(_) => None,
    }
}

/// Starts reading what a request shows, while the request is passed on.
fn preparing(proxy: &Arc<Proxy>, request: &ModelRequest, owner: &str) -> Preparing {
    let (proxy, request, owner) = (Arc::clone(proxy), request.clone(), owner.to_owned());
    let awaited = proxy.sessions.awaited(&request, &owner);
    let task = tokio::spawn(async move {
        linked(awaited).await;
        prepare(proxy, request, owner).await
    });
    async move { task.await.unwrap_or_else(|error| Err(error.to_string())) }.boxed().shared()
}

async fn prepare(
    proxy: Arc<Proxy>,
    request: ModelRequest,
    owner: String,
) -> Result<Arc<Prepared>, String> {
    let reading = Arc::clone(&proxy);
    let read = tokio::task::spawn_blocking(move || {
        let Proxy { guard, lists, sessions, .. } = &*reading;
        let mut shown = of_request(guard, lists, &request);
        let found = sessions.find_or_begin(guard, &request, &owner, &shown.transcript);
        let (seen, first) = found.map_err(|error| error.to_string())?;
        shown.complete(&request, &seen);
        // Feedback that we sent earlier quotes fabricated text.
        set_aside_feedback(&mut shown.transcript);
        Ok((Arc::new(shown), seen, first))
    });
    let (shown, seen, first) = read.await.unwrap_or_else(|error| Err(error.to_string()))?;
    let (known, new) = (Arc::clone(&seen), Arc::clone(&shown));
    let busy = Busy::new(&proxy);
    let recording = tokio::spawn(async move {
        let recorded = record(&known, &new, first).await;
        drop(busy);
        recorded.err().map(|error| error.to_string())
    });
    let recording = async move { recording.await.unwrap_or_else(|error| Some(error.to_string())) };
    Ok(Arc::new(Prepared { shown, seen, recording: recording.boxed().shared() }))
}

impl Exchange {
    pub(crate) fn new(
        proxy: Arc<Proxy>,
        settings: Arc<ProxySettings>,
        request: ModelRequest,
        (key, client): (Option<String>, String),
        (to, headers): (Uri, HeaderMap),
    ) -> Self {
        // One client may send requests for many users.
        let owner = format!("{client}\n{}", request.user).trim().to_owned();
        let preparing = preparing(&proxy, &request, &owner);
        Self {
            began: Instant::now(),
            tools: None,
            announced: Mutex::default(),
            _open: proxy.log.open(),
            proxy,
            settings,
            request,
            key,
            owner,
            to,
            headers,
            preparing,
        }
    }

    /// What the request shows, and its session.
    pub(crate) async fn prepared(&self) -> Result<Arc<Prepared>, String> {
        self.preparing.clone().await
    }

    pub(crate) fn wire(&self) -> Wire {
        self.request.wire
    }

    pub(crate) fn mode(&self) -> ProxyMode {
        self.settings.mode
    }

    /// The time limit for a judgement. There is none if unjudged answers are withheld, or if there
    /// is a judge.
    pub(crate) fn limit(&self) -> Option<Duration> {
        let waits = self.settings.withholds() || self.has_judge();
        (!waits).then_some(self.settings.verify)
    }

    /// Whether a judge reads answers that end a turn. If so, nothing of such an answer is known to
    /// be correct before it ends.
    pub(crate) fn has_judge(&self) -> bool {
        self.proxy.guard.has_answer_judge()
    }

    /// The findings in the beginning of an answer.
    pub(crate) async fn judge_text(&self, text: &str) -> Result<Vec<Finding>, String> {
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
        let plain: Vec<Option<Plain>> =
            answer.iter().map(|message| Plain::from_text(&message.text)).collect();
        let mut seen = answer.clone();
        for (message, plain) in seen.iter_mut().zip(&plain) {
            plain.iter().for_each(|plain| message.text.clone_from(&plain.text));
        }
        let hidden = |plain: &Plain| shape::has_odd_letters(&plain.text);
        if self.settings.withholds() && plain.iter().flatten().any(hidden) {
            return Err(NotJudged::Letters);
        }
        let mut findings = judges.judge(guard, &prepared.shown, answer, limit).await?;
        if plain.iter().any(Option::is_some) {
            let more = judges.judge(guard, &prepared.shown, seen, limit).await?;
            let first = prepared.shown.transcript.messages.len();
            for mut finding in more {
                let at = finding.turn.checked_sub(first).and_then(|at| plain.get(at)?.as_ref());
                if let (Subject::Claim { span, .. }, Some(plain)) = (&mut finding.subject, at) {
                    (span.start, span.end) = (plain.source(span.start), plain.source(span.end));
                }
                let span = span_of(&finding);
                let known = |other: &Finding| {
                    let overlaps = span_of(other)
                        .zip(span)
                        .is_some_and(|(other, own)| other.start < own.end && own.start < other.end);
                    other.code == finding.code && other.turn == finding.turn && overlaps
                };
                if at.is_some() && !findings.iter().any(known) {
                    findings.push(finding);
                }
            }
        }
        Ok(findings)
    }

    /// The verdict on an answer: on its words, which follow `before`, and on its calls. `limit` is
    /// the time limit, if any.
    pub(crate) async fn conclude(
        self: &Arc<Self>,
        reply: &Reply,
        before: &str,
        limit: Option<Duration>,
    ) -> Conclusion {
        if self.request.choices > 1 {
            return Conclusion::not_judged("the answer has several choices", reply);
        }
        let Some(limit) = limit else { return self.concluded(reply, before).await };
        let (exchange, own, text) = (Arc::clone(self), reply.clone(), before.to_owned());
        let busy = Busy::new(&self.proxy);
        let mut judging = tokio::spawn(async move {
            let concluded = exchange.concluded(&own, &text).await;
            drop(busy);
            concluded
        });
        let judged = match limit.is_zero() {
            true => None,
            false => timeout(limit, &mut judging).await.ok(),
        };
        match judged {
            Some(Ok(conclusion)) => conclusion,
            Some(Err(_)) => Conclusion::not_judged(NotJudged::Failed, reply),
            None => {
                let late = NotJudged::Late(limit.as_millis());
                Conclusion { late: Some(judging), ..Conclusion::not_judged(late, reply) }
            }
        }
    }

    async fn concluded(&self, reply: &Reply, before: &str) -> Conclusion {
        let prepared = match self.prepared().await {
            Ok(prepared) => prepared,
            Err(why) => return Conclusion::not_judged(why, reply),
        };
        let answer = messages(&self.request, reply, before);
        let Prepared { shown, seen, .. } = &*prepared;
        let asking = if self.mode().holds() { Asking::Unattended } else { Asking::Person };
        if answer.iter().any(|message| !message.calls.is_empty()) {
            // The gates' decision depends on earlier calls.
            prepared.recorded().await;
        }
        let calls = calls::judge(seen, shown, &answer, asking).await;
        let findings = self.judge(&prepared, answer.clone(), None).await;
        let mut conclusion = match calls {
            Ok(calls) => Conclusion { calls, ..Conclusion::default() },
            Err(error) => Conclusion::not_judged(error, reply),
        };
        if self.settings.withholds() {
            let spoken = calls::spoken(seen, shown, &reply.text).await;
            conclusion.unjudged = match spoken {
                Ok(why) => conclusion.unjudged.or(why),
                Err(error) => Some(error.to_string()),
            };
        }
        match findings {
            Ok(mut findings) => {
                let unread = self.read_by_judge(&prepared, answer, &mut findings).await;
                conclusion.calls.notes.extend(unread);
                if !findings.is_empty() {
                    // Their receipts may still be being written.
                    prepared.recorded().await;
                    cite_receipts(seen, &mut findings);
                }
                conclusion.findings = findings;
                if reply.text.len() + before.len() > LONGEST_ANSWER {
                    let limit = LONGEST_ANSWER >> 20;
                    let why =
                        format!("the answer is longer than {limit} MiB; the rest was not read");
                    conclusion.unjudged.get_or_insert(why);
                }
            }
            Err(error) => conclusion.unjudged = Some(error.to_string()),
        }
        conclusion
    }

    /// Adds a judge's findings for an answer that ends a turn. Returns a note if no judge read it.
    async fn read_by_judge(
        &self,
        prepared: &Prepared,
        answer: Vec<Message>,
        findings: &mut Vec<Finding>,
    ) -> Option<String> {
        let works = answer.iter().any(|message| !message.calls.is_empty());
        if !self.has_judge() || answer.is_empty() || works {
            return None;
        }
        let mut transcript = prepared.shown.transcript.clone();
        transcript.messages.extend(answer);
        let turn = transcript.messages.len().checked_sub(1)?;
        let unread = self.proxy.guard.read_answer(&transcript, turn, findings).await;
        unread.map(|why| format!("the judge did not read the answer: {why}"))
    }

    /// Records the outcome of the answer.
    pub(crate) async fn done(&self, mut conclusion: Conclusion, became: Became) {
        self.link(&became).await;
        if let Some(late) = conclusion.late.take()
            && let Ok(judged) = late.await
        {
            let Conclusion { unjudged, doubt, .. } = conclusion;
            conclusion = Conclusion { unjudged, doubt, ..judged };
        }
        let Became { what, status, withheld, judged, message, better, .. } = became;
        let Became { corrections, usage, .. } = became;
        let usage = self.counted(usage, &judged);
        let mut notes: Vec<String> =
            conclusion.unjudged.iter().chain(&conclusion.doubt).map(not_judged).collect();
        notes.extend(conclusion.calls.notes.iter().cloned());
        let (prepared, mut tampered) = (self.prepared().await, 0);
        if let Ok(prepared) = &prepared {
            notes.extend(prepared.shown.tampered.iter().map(tampering_note));
            tampered = prepared.shown.tampered.len();
            let words = Words { judged: &judged, answer: &message.text, better: better.as_deref() };
            notes.extend(self.recorded(prepared, &conclusion, withheld, words).await);
            let mut state = prepared.seen.state();
            state.findings += conclusion.findings.len() as u64;
            state.refused += conclusion.calls.refused.len() as u64;
            state.held += u64::from(matches!(what, "held" | "corrected"));
        }
        if let Some(key) = self.key() {
            key.spend(usage);
        }
        let mut findings: Vec<String> = conclusion
            .findings
            .iter()
            .map(|finding| format!("{} {}", finding.code, finding.severity.name()))
            .collect();
        findings.extend((0..tampered).map(|_| "FK040 warning".to_owned()));
        self.proxy.log.add(Exchanged {
            at: self.proxy.clock.wall().try_into().unwrap_or_default(),
            session: match prepared {
                Ok(prepared) => prepared.seen.session.id().to_owned(),
                Err(why) => {
                    notes.push(format!("cannot record the request: {why}"));
                    String::new()
                }
            },
            wire: self.wire().name(),
            model: self.request.model.clone(),
            key: self.key.clone(),
            streamed: self.request.streams,
            status,
            became: what,
            findings,
            refused: conclusion.calls.refused.iter().map(|r| r.call.tool.clone()).collect(),
            corrections,
            tools: self.tools.clone(),
            notes,
            input_tokens: usage.input,
            output_tokens: usage.output,
            took: millis(self.began.elapsed()),
        });
    }

    /// The cost of an answer, estimated if its server does not report it.
    fn counted(&self, usage: Usage, judged: &str) -> Usage {
        if usage.input > 0 || usage.output > 0 || judged.is_empty() {
            return usage;
        }
        let about = |bytes: usize| (bytes as u64) / 4;
        Usage { input: about(self.request.body.len()), output: about(judged.len()), cached: 0 }
    }

    fn key(&self) -> Option<&VirtualKey> {
        self.settings.key(self.key.as_deref()?)
    }

    /// Records the judgement in the ledger, after the request. Returns notes about what failed.
    async fn recorded(
        &self,
        prepared: &Prepared,
        conclusion: &Conclusion,
        withheld: bool,
        words: Words<'_>,
    ) -> Vec<String> {
        let mut failed: Vec<String> = prepared.recorded().await.into_iter().collect();
        let _in_order = prepared.seen.recording.lock().await;
        let session = &prepared.seen.session;
        let mut recorded = Vec::new();
        if !words.judged.trim().is_empty() {
            recorded.push(session.judged(words.judged, &conclusion.findings).await);
        }
        if withheld || words.better.is_some() {
            // Only the fact is recorded, because the findings quote fabricated text.
            recorded.push(session.hear(Role::System, HELD_BACK).await);
        }
        if let Some(findings) = words.better {
            recorded.push(session.judged(words.answer, findings).await);
        }
        failed.extend(recorded.into_iter().filter_map(Result::err).map(|e| e.to_string()));
        failed.into_iter().map(|why| format!("cannot record part of the exchange: {why}")).collect()
    }
}

/// The record of an answer that its client did not get.
const HELD_BACK: &str = "The answer was held back.";

/// The words of an answer, and the part that the client has.
struct Words<'w> {
    judged: &'w str,
    answer: &'w str,
    better: Option<&'w [Finding]>,
}

fn not_judged(why: &String) -> String {
    format!("an answer could not be checked: {why}")
}

fn tampering_note(tampered: &Tampered) -> String {
    match tampered {
        Tampered::Changed { call_id, tool } => format!(
            "FK040: the client reports a different result for `{tool}` ({call_id}) than before"
        ),
        Tampered::Dropped { call_id } => {
            format!(
                "FK040: the client dropped the result of {call_id}, which it had reported before"
            )
        }
    }
}

/// An answer as messages of a conversation: what the server did itself, then its words and calls. A
/// server reports only its own tools; calls for the client have not run yet.
fn messages(request: &ModelRequest, reply: &Reply, before: &str) -> Vec<Message> {
    let wire = request.wire;
    let own: Vec<Value> =
        reply.kept.iter().filter(|item| wire.is_of_server(item, &request.body)).cloned().collect();
    let mut messages = Vec::new();
    if !own.is_empty() {
        let kept = Turn::Assistant { text: String::new(), calls: Vec::new(), kept: own };
        let entries = written(wire.kind(), &[kept]);
        let body = json!({ "messages": entries.clone(), "input": entries });
        messages = read_conversation(wire, body.to_string().as_bytes()).messages;
    }
    let calls = calls_of(wire, reply);
    let text = format!("{before}{}", reply.text);
    messages.push(Message { calls, ..Message::text(Role::Assistant, text) });
    messages
}

/// Adds the ids of the receipts of the calls in the evidence, if there are any.
fn cite_receipts(seen: &Seen, findings: &mut [Finding]) {
    let evidence = || findings.iter().flat_map(|finding| &finding.evidence);
    if !evidence().any(|evidence| matches!(evidence.source, EvidenceSource::Call { .. })) {
        return;
    }
    let recorded = seen.session.transcript().ok();
    let receipts = recorded.and_then(|recorded| recorded.receipts).unwrap_or_default();
    let of_call = |id: &str| receipts.iter().find(|r| r.call_id.as_deref() == Some(id));
    for evidence in findings.iter_mut().flat_map(|finding| &mut finding.evidence) {
        if let EvidenceSource::Call { call_id } = &evidence.source
            && let Some(receipt) = of_call(call_id)
        {
            let execution_id = receipt.id.clone();
            evidence.source = EvidenceSource::Execution { execution_id };
        }
    }
}

/// All kinds of calls in an answer that its client is to make.
fn calls_of(wire: Wire, reply: &Reply) -> Vec<ToolCall> {
    let kept: Vec<Value> =
        reply.kept.iter().filter(|item| wire.is_of_client(item)).cloned().collect();
    let mut calls = reply.calls.clone();
    if !kept.is_empty() {
        let body = json!({ "input": kept }).to_string();
        let read = read_conversation(wire, body.as_bytes()).messages;
        calls.extend(read.into_iter().flat_map(|message| message.calls));
    }
    calls
}
