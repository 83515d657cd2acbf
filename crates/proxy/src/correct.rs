//! Asks a model again for a better answer.

use std::sync::Arc;

use counterfoil_model::ToolCall;
use counterfoil_providers::{Assembly, Reply, Turn, Usage, whole as read_whole};
use counterfoil_rules::feedback;
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header;
use hyper::{Method, Response, StatusCode};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use crate::conclusion::{Became, Conclusion};
use crate::exchange::Exchange;
use crate::failure;
use crate::forward::whole;
use crate::frames::Frames;
use crate::shape::{self, Shape};

/// The maximum length of an answer that is read, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// The messages for a model whose reader already has the beginning of its answer.
const GO_ON: &str =
    "The reader has already received the beginning of that answer, and it cannot be changed:";
const GO_ON_FROM: &str =
    "Continue from there. Write only the rest, and state only what the record shows.";

/// The result of a call that fits, if another call of the same answer does not.
const NOT_MADE: &str =
    "not executed, because another call in the same answer was rejected: make this call again";

/// A corrected answer.
pub(crate) struct Corrected {
    pub(crate) reply: Reply,
    pub(crate) conclusion: Conclusion,
    /// The original bytes, if it was not streamed.
    pub(crate) body: Option<Bytes>,
    pub(crate) retries: Retries,
}

/// How often a model was asked again, and what that cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Retries {
    pub(crate) times: u32,
    pub(crate) usage: Usage,
}

impl Became {
    /// Records that the model was asked again.
    pub(crate) fn retried(&mut self, retries: Retries) {
        self.corrections = retries.times;
        self.usage += retries.usage;
    }

    /// Records that asking again gave a better answer.
    pub(crate) fn corrected(&mut self, corrected: &Corrected) {
        self.what = "corrected";
        self.retried(corrected.retries);
        self.better = Some(corrected.conclusion.findings.clone());
        self.message.calls.clone_from(&corrected.conclusion.calls.passed);
    }
}

impl Exchange {
    /// Asks the model again until its answer is acceptable, as often and as long as the settings
    /// allow. `read` is the part that the client already has. If no answer is acceptable, returns
    /// how often it was asked.
    pub(crate) async fn corrected(
        self: &Arc<Self>,
        reply: &Reply,
        conclusion: &Conclusion,
        read: &str,
    ) -> Result<Corrected, Retries> {
        let until = Instant::now() + self.settings.correction;
        let mut request = self.request.members().ok_or_else(Retries::default)?;
        let mut failed = (reply.clone(), None);
        let mut retries = Retries::default();
        while retries.times < self.settings.max_corrections {
            let (reply, own) = &failed;
            let conclusion = own.as_ref().unwrap_or(conclusion);
            self.follow_up(&mut request, reply, conclusion, read);
            self.not_made(&conclusion.calls.passed).await;
            retries.times += 1;
            let again = timeout_at(until, self.again(&request)).await;
            let Ok(Some((reply, body))) = again else { return Err(retries) };
            retries.usage += reply.usage;
            let before = if read.is_empty() { String::new() } else { format!("{read}\n\n") };
            let judged = timeout_at(until, self.conclude(&reply, &before, None)).await;
            let Ok(judged) = judged else { return Err(retries) };
            let bad = judged.bad(self.settings.least);
            if bad.is_empty() && judged.calls.refused.is_empty() && judged.unjudged.is_none() {
                return Ok(Corrected { reply, conclusion: judged, body, retries });
            }
            failed = (reply, Some(judged));
        }
        Err(retries)
    }

    /// Closes the receipts of calls that the client does not get.
    pub(crate) async fn not_made(&self, calls: &[ToolCall]) {
        let Ok(prepared) = self.prepared().await else { return };
        for call in calls {
            let closed = prepared.seen.session.not_made(&call.id).await;
            if let Err(error) = closed {
                tracing::warn!("cannot close a receipt: {error}");
            }
        }
    }

    /// Appends the answer and its problems to the conversation.
    fn follow_up(
        &self,
        request: &mut Map<String, Value>,
        reply: &Reply,
        conclusion: &Conclusion,
        read: &str,
    ) {
        let wire = self.wire();
        wire.extend(request, &[reply.turn()]);
        for refused in &conclusion.calls.refused {
            wire.result(request, reply, &refused.call, &refused.why);
        }
        for passed in &conclusion.calls.passed {
            wire.result(request, reply, passed, NOT_MADE);
        }
        let bad = conclusion.bad(self.settings.least);
        if bad.is_empty() {
            return;
        }
        let mut text = feedback(&bad);
        if !read.trim().is_empty() {
            text.push_str(&format!("\n\n{GO_ON}\n{read}\n\n{GO_ON_FROM}"));
        }
        wire.extend(request, &[Turn::User(text)]);
    }

    async fn again(&self, request: &Map<String, Value>) -> Option<(Reply, Option<Bytes>)> {
        let mut request = request.clone();
        if !self.request.streams {
            request.insert("stream".to_owned(), json!(false));
        }
        let body = Bytes::from(Value::Object(request).to_string());
        let mut headers = self.headers.clone();
        // It is a different request.
        headers.remove("idempotency-key");
        let pending = self.proxy.servers.ask(
            &self.to,
            Method::POST,
            headers,
            whole(body),
            self.settings.silence,
        );
        let response = pending.await.inspect_err(|error| tracing::warn!("{error}")).ok()?;
        if response.status() != StatusCode::OK {
            tracing::warn!(
                "the request for a corrected answer failed with status {}",
                response.status()
            );
            return None;
        }
        self.reply(response).await
    }

    /// Reads the new answer; `None` if it cannot be read, or can be read in different ways.
    async fn reply(&self, response: Response<Incoming>) -> Option<(Reply, Option<Bytes>)> {
        let streams = is_stream(&response);
        let mut body = response.into_body();
        let (mut frames, mut assembly) = (Frames::default(), Assembly::new(self.wire().kind()));
        let mut shape = Shape::new(self.wire());
        let mut bytes = Vec::new();
        while let Some(frame) = timeout(self.settings.silence, body.frame()).await.ok()? {
            let Ok(data) = frame.ok()?.into_data() else { continue };
            if bytes.len() + data.len() > LONGEST {
                return None;
            }
            if !streams {
                bytes.extend_from_slice(&data);
                continue;
            }
            for frame in frames.push(&data) {
                if frame.too_long {
                    return None;
                }
                if !frame.data.is_empty() && frame.data.trim() != "[DONE]" {
                    let event = shape::parse(&frame.data).ok()?;
                    shape.event(&frame.name, &event, &self.request).ok()?;
                }
                if !frame.data.is_empty() {
                    assembly.take(&frame.data, &mut |_| {}).ok()?;
                }
            }
        }
        if streams {
            let reply = assembly.finish().ok()?;
            shape.is_judged(&reply.text, &reply.calls).ok()?;
            return Some((reply, None));
        }
        let text = std::str::from_utf8(&bytes).ok()?;
        let reply = read_whole(self.wire().kind(), text).ok()?;
        // It is passed on unchanged.
        let (_, shape) = self.doubt(text, &reply).ok()?;
        if failure::remarks(self, shape.remarks()).await.is_some() {
            return None;
        }
        Some((reply, Some(Bytes::from(bytes))))
    }
}

/// Whether an answer is streamed.
pub(crate) fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/event-stream"))
}
