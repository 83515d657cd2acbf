//! A model on loopback that plays a scenario over the three wire formats that the agents use.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use super::scenario::{Action, HELPER};
use super::wire::{self, Wire};

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Agent,
    Helper,
    /// The agent's program itself, for example for a title or a summary.
    Program,
}

/// One request and the reply to it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) who: Who,
    pub(super) request: Value,
}

/// The replies of a scenario, with this session's paths.
pub(super) struct Script {
    pub(super) steps: Vec<Vec<Action>>,
    pub(super) helper: Vec<Vec<Action>>,
    pub(super) latency: Duration,
    /// The folder for requests and replies.
    pub(super) kept: PathBuf,
}

impl Script {
    /// Returns the actions of a step; those of the sub-agent if its task is among the `words`.
    fn at(&self, words: &str, step: usize) -> (Who, Vec<Action>) {
        let (who, steps) = if words.contains(HELPER) {
            (Who::Helper, &self.helper)
        } else {
            (Who::Agent, &self.steps)
        };
        let actions = steps.get(step).cloned();
        (who, actions.unwrap_or_else(|| vec![Action::Say("(the script is at its end)".into())]))
    }
}

/// A running model, which stops when dropped.
pub(super) struct Model {
    pub(super) url: String,
    shared: Arc<Shared>,
    // Dropped last: the server stops with it.
    _runtime: tokio::runtime::Runtime,
}

struct Shared {
    script: Script,
    asked: Mutex<Vec<Asked>>,
    /// The number of replies in each thread of a wire without history.
    threads: Mutex<HashMap<String, usize>>,
}

impl Model {
    pub(super) fn start(script: Script) -> Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared =
            Arc::new(Shared { script, asked: Mutex::default(), threads: Mutex::default() });
        let own = Arc::clone(&shared);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&own);
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(Arc::clone(&shared), request));
                    let io = TokioIo::new(stream);
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service).await
                });
            }
        });
        Ok(Self { url, shared, _runtime: runtime })
    }

    /// Returns the requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let body: Value =
        body.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let Some(wire) = Wire::of(&path) else {
        let (status, text) = wire::beside(&path);
        return Ok(reply(status, "application/json", text));
    };
    let (kind, text) = shared.play(wire, &path, &body);
    tokio::time::sleep(shared.script.latency).await;
    Ok(reply(200, kind, text))
}

fn reply(status: u16, kind: &str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    if let Ok(kind) = kind.parse() {
        response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
    }
    response
}

impl Shared {
    fn play(&self, wire: Wire, path: &str, body: &Value) -> (&'static str, String) {
        let number = self.asked.lock().unwrap_or_else(PoisonError::into_inner).len() + 1;
        let (who, blocks) = match wire.beside_the_session(body) {
            Some(said) => (Who::Program, wire.blocks(body, &[Action::Say(said)], number)),
            None => {
                let step = self.step(wire, body);
                let (who, actions) = self.script.at(&wire.words(body), step);
                (who, wire.blocks(body, &actions, number))
            }
        };
        let kept = self.script.kept.join(format!("{number:03}-{who:?}.json"));
        let both = json!({ "path": path, "request": body, "reply": blocks });
        std::fs::write(kept, both.to_string()).ok();
        let asked = Asked { who, request: body.clone() };
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        wire.encoded(path, body, &blocks, number)
    }

    /// Returns the number of replies in this conversation so far.
    fn step(&self, wire: Wire, body: &Value) -> usize {
        wire.replies(body).unwrap_or_else(|thread| {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            let count = threads.entry(thread).or_default();
            *count += 1;
            *count - 1
        })
    }
}
