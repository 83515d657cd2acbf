//! Accepts requests.

use std::future::Future;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use counterfoil_guard::Clock as _;
use counterfoil_model::Digest;

use crate::Proxy;
use crate::answer::{Out, answered, collected, failed, from_server, respond, text};
use crate::conclusion::{Became, Conclusion};
use crate::exchange::Exchange;
use crate::forward::{Body, BoxError, address, onward, onward_readable, passing, whole};
use crate::keys::{VirtualKey, given};
use crate::meter::Meter;
use crate::options::{KeyProvider, ProxyMode, ProxySettings};
use crate::piece;
use crate::request::ModelRequest;
use crate::wire::Wire;
use crate::{failure, notes, route, tools};
use counterfoil_serve::{Listening, listen};

/// The time that open requests have to end when the process is stopped.
const GRACE: Duration = Duration::from_secs(30);

/// The time that remaining recording may take after that.
const RECORDS: Duration = Duration::from_secs(5);

/// The time that a client may take to send a request.
const BODY: Duration = Duration::from_secs(60);

/// The interval at which idle sessions are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// The size above which a request is parsed on another thread, in bytes.
const AT_ONCE: usize = 256 * 1024;

/// The prefix of the paths for operators.
const OWN: &str = "/counterfoil/";

/// Headers that make some servers use another method or path.
const OVERRIDES: [&str; 5] = [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];

/// Why the proxy cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Connections can no longer be accepted.
    #[error("cannot accept connections: {0}")]
    Accept(#[from] io::Error),
    /// A file for TLS cannot be used.
    #[error("cannot serve clients over TLS: {0}")]
    Tls(String),
}

/// Creates a TLS acceptor from the files of a certificate and its key.
///
/// # Errors
/// When a file cannot be used.
pub fn tls_of(certificates: &Path, key: &Path) -> Result<TlsAcceptor, ProxyError> {
    let wrong = |path: &Path, why: &dyn std::fmt::Display| {
        ProxyError::Tls(format!("{}: {why}", path.display()))
    };
    let read = CertificateDer::pem_file_iter(certificates).map_err(|e| wrong(certificates, &e))?;
    let chain: Result<Vec<_>, _> = read.collect();
    let chain = chain.map_err(|error| wrong(certificates, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(certificates, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong(certificates, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answers requests until `stop` completes, then waits for open ones.
///
/// # Errors
/// When connections can no longer be accepted.
pub async fn serve_proxy(
    proxy: Arc<Proxy>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) -> Result<(), ProxyError> {
    let sweeping = Arc::clone(&proxy);
    let sweeping = tokio::spawn(async move {
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            sweep.tick().await;
            let settings = sweeping.settings.load_full();
            sweeping.sessions.sweep(settings.idle, settings.max_sessions);
        }
    });
    let (answering, stopped) = (Arc::clone(&proxy), Arc::clone(&proxy));
    let answering = move |request, from| {
        let proxy = Arc::clone(&answering);
        async move { proxy.answer(request, from).await }
    };
    let stop = async move {
        stop.await;
        // Operators who only watch do not delay the shutdown.
        stopped.stopping.send_replace(true);
    };
    let ended = listen(Listening { listener, tls, grace: GRACE }, stop, answering).await;
    sweeping.abort();
    let mut busy = proxy.busy.subscribe();
    timeout(RECORDS, busy.wait_for(|busy| *busy == 0)).await.ok();
    Ok(ended?)
}

impl Proxy {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, from: IpAddr) -> Out {
        let path = request.uri().path();
        if path == "/healthz" {
            return text(StatusCode::OK, "text/plain", "ok\n");
        }
        let settings = self.settings.load_full();
        let wire = Wire::from_path(path).filter(|_| request.method() == Method::POST);
        if let Err(error) = settings.access.check(request.headers(), from, &self.counted) {
            return failed(wire, error.status(), &error.to_string());
        }
        if path == "/metrics" || path.starts_with(OWN) {
            return self.own(path, request.headers(), from, &settings);
        }
        let key = match VirtualKey::find(&settings.keys, request.headers(), self.clock.wall()) {
            Ok(key) => key,
            Err(error) => return failed(wire, error.status(), &error.to_string()),
        };
        let (head, body) = request.into_parts();
        let way = match Target::new(&settings, wire, &head, key) {
            Ok(way) => way,
            Err((status, why)) => return failed(wire, status, &why),
        };
        match wire {
            Some(wire) => self.ask(wire, way, &head.headers, body).await,
            None => self.pass(way, head.method, passing(body)).await,
        }
    }

    /// Passes on a request that is not judged.
    async fn pass(&self, way: Target, method: Method, body: Body) -> Out {
        let Target { settings, to, headers, key, .. } = way;
        // A request with a proxy key is charged for what a model does.
        let metered = key.as_deref().filter(|_| method == Method::POST);
        let (meter, body) = match metered {
            Some(key) => {
                let (meter, body) = Meter::new(&settings, key, body);
                (Some(meter), body)
            }
            None => (None, body),
        };
        let response = match self.servers.ask(&to, method, headers, body, settings.silence).await {
            Ok(response) => response,
            Err(error) => return failed(None, StatusCode::BAD_GATEWAY, &error.to_string()),
        };
        let (head, body) = response.into_parts();
        let headers = from_server(&head.headers, &settings);
        if !head.status.is_success() && key.is_some() {
            return match collected(body, settings.silence, failure::LONGEST).await {
                Ok(body) => answered(head.status, headers, whole(settings.without_keys(&body))),
                Err(why) => failed(None, StatusCode::BAD_GATEWAY, &why),
            };
        }
        let body = passing(body);
        let body = match meter {
            Some(meter) => meter.along(body),
            None => body,
        };
        answered(head.status, headers, body)
    }

    /// Passes on a request to a model, and judges the answer.
    async fn ask(
        self: Arc<Self>,
        wire: Wire,
        way: Target,
        given: &HeaderMap,
        body: Incoming,
    ) -> Out {
        let limit = way.settings.max_body_bytes;
        let body = match received(body, limit).await {
            Ok(body) => body,
            Err((status, why)) => return failed(Some(wire), status, &why),
        };
        let compressed = given.contains_key(header::CONTENT_ENCODING);
        let (headers, packed) = (given.clone(), body.clone());
        let read = move || {
            let plain = if compressed { unpacked(&packed, limit)? } else { packed };
            ModelRequest::read(wire, &headers, plain)
        };
        let model_request = match body.len() > AT_ONCE || compressed {
            true => tokio::task::spawn_blocking(read).await.ok().flatten(),
            false => read(),
        };
        match model_request {
            Some(model_request) if model_request.background && way.settings.withholds() => {
                let why =
                    "a background answer cannot be judged: send the request without `background`";
                failed(Some(wire), StatusCode::BAD_REQUEST, why)
            }
            Some(model_request) if model_request.background && way.has_budget() => {
                let why = "the tokens of a background answer are not counted, but this key has a \
                           budget: send the request without `background`";
                failed(Some(wire), StatusCode::BAD_REQUEST, why)
            }
            Some(model_request) => self.exchange(way, model_request, body, compressed).await,
            None if way.settings.mode.holds() => {
                let why = "the request cannot be read, so its answer could not be judged: send a \
                           JSON object in UTF-8 without duplicate members, uncompressed or \
                           compressed with gzip or Zstandard";
                failed(Some(wire), StatusCode::BAD_REQUEST, why)
            }
            None => self.pass_unread(wire, way, body).await,
        }
    }

    /// Passes on a request that cannot be parsed. Its server reports what is wrong with it.
    async fn pass_unread(&self, wire: Wire, way: Target, body: Bytes) -> Out {
        let (wire, mode) = (wire.name(), way.settings.mode);
        tracing::warn!("forwarded a `{wire}` request that cannot be read");
        let mut answer = self.pass(way, Method::POST, whole(body)).await;
        if mode != ProxyMode::Observe {
            let why = "the request cannot be read";
            answer.headers_mut().extend(piece::found(&notes::machine(&[], &[], Some(why))));
        }
        answer
    }

    async fn exchange(
        self: Arc<Self>,
        way: Target,
        model_request: ModelRequest,
        mut body: Bytes,
        compressed: bool,
    ) -> Out {
        let Target { settings, to, mut headers, key, client } = way;
        let rewritten = compressed || model_request.body.len() != body.len();
        if rewritten && settings.mode != ProxyMode::Observe {
            // The decompressed request is passed on as plain JSON.
            headers.remove(header::CONTENT_ENCODING);
            body = model_request.body.clone();
        }
        let changes =
            settings.mode != ProxyMode::Observe && tools::may_change(&self.guard, &model_request);
        let place = (to, headers);
        let mut exchange =
            Exchange::new(Arc::clone(&self), settings, model_request, (key, client), place);
        if changes && let Some(changed) = exchange.with_offered_tools().await {
            body = changed;
        }
        let exchange = Arc::new(exchange);
        // A client that disconnects drops this future, and the running task has to be notified.
        let (here, gone) = tokio::sync::oneshot::channel::<()>();
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.spawn(async move {
            tokio::select! {
                response = respond(&exchange, body) => {
                    // The client may have disconnected in the meantime.
                    answer.send(response).ok();
                }
                _ = gone => exchange.no_answer(StatusCode::OK, "the client disconnected"),
            }
        });
        let response = answered.await;
        drop(here);
        response.unwrap_or_else(|_| {
            failed(None, StatusCode::INTERNAL_SERVER_ERROR, "the answer was lost: internal error")
        })
    }

    /// Answers operators' requests: from this machine, or with the operators' token.
    fn own(&self, path: &str, headers: &HeaderMap, from: IpAddr, settings: &ProxySettings) -> Out {
        let token = given(headers).map(|token| Digest::of_bytes(token.as_bytes()));
        let known = settings.operators.is_some() && token == settings.operators;
        if !from.is_loopback() && !known {
            let why = "status and metrics are only available from this machine, or with the token \
                       from `proxy.token_env`";
            return failed(None, StatusCode::UNAUTHORIZED, why);
        }
        let found = match path.strip_prefix(OWN) {
            None => {
                let metrics = self.log.metrics(self.sessions.len());
                return text(StatusCode::OK, "text/plain; version=0.0.4", metrics);
            }
            Some("status") => self.log.status(self.sessions.len(), settings.mode.name()),
            Some("sessions") => self.sessions_json(),
            Some("events") => return self.events(),
            Some(_) => {
                let what = "not found; available: `status`, `sessions` and `events`";
                return failed(None, StatusCode::NOT_FOUND, what);
            }
        };
        text(StatusCode::OK, "application/json", found.to_string())
    }

    fn sessions_json(&self) -> Value {
        let all = self.sessions.all();
        let shown = all.iter().map(|seen| {
            let state = seen.state();
            json!({
                "session": seen.session.id(),
                "model": seen.model,
                "requests": state.requests,
                "reported_calls": state.reported.len(),
                "findings": state.findings,
                "held": state.held,
                "refused_calls": state.refused,
            })
        });
        shown.collect()
    }

    /// The latest exchanges, and all future ones.
    fn events(&self) -> Out {
        let (last, rest) = self.log.follow();
        let last = stream::iter(last);
        let rest = stream::unfold(
            (rest, self.stopping.subscribe()),
            |(mut rest, mut stopping)| async move {
                loop {
                    let next = tokio::select! {
                        next = rest.recv() => next,
                        _ = stopping.wait_for(|stopping| *stopping) => return None,
                    };
                    match next {
                        Ok(exchanged) => return Some((exchanged, (rest, stopping))),
                        Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Closed) => return None,
                    }
                }
            },
        );
        let pieces = last.chain(rest).map(|exchanged| {
            let data = serde_json::to_string(&exchanged).unwrap_or_default();
            Ok::<_, BoxError>(Frame::data(Bytes::from(format!("data: {data}\n\n"))))
        });
        let headers = HeaderMap::from_iter([(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        )]);
        answered(StatusCode::OK, headers, StreamBody::new(pieces).boxed_unsync())
    }
}

/// The target of a request.
struct Target {
    settings: Arc<ProxySettings>,
    to: Uri,
    headers: HeaderMap,
    /// The name of the proxy key.
    key: Option<String>,
    /// Identifies the client by its key, without revealing the key.
    client: String,
}

impl Target {
    fn new(
        settings: &Arc<ProxySettings>,
        wire: Option<Wire>,
        head: &Parts,
        key: Option<&VirtualKey>,
    ) -> Result<Self, (StatusCode, String)> {
        let of_anthropic = wire == Some(Wire::Messages)
            || head.headers.contains_key("anthropic-version")
            || head.headers.contains_key("x-api-key") && wire.is_none();
        let provider = if of_anthropic { KeyProvider::Anthropic } else { KeyProvider::Openai };
        if key.is_some_and(|key| key.provider != provider) {
            return Err((StatusCode::FORBIDDEN, "this key is for another provider".to_owned()));
        }
        route::check(settings, key, wire, (&head.method, head.uri.path()))?;
        let server = if of_anthropic { &settings.anthropic } else { &settings.openai };
        let to = address(server, &head.uri)
            .ok_or((StatusCode::BAD_REQUEST, "the request has an invalid address".to_owned()))?;
        let mut headers = match wire {
            Some(_) => onward_readable(&head.headers),
            None => onward(&head.headers),
        };
        headers.remove("x-counterfoil-session");
        if key.is_some() || settings.mode.holds() {
            OVERRIDES.iter().for_each(|name| drop(headers.remove(*name)));
        }
        let client = match (key, given(&head.headers)) {
            (Some(key), _) => key.name.clone(),
            (None, Some(own)) => Digest::of_bytes(own.as_bytes()).to_string(),
            (None, None) => String::new(),
        };
        if let Some(key) = key {
            key.replace_in(&mut headers);
        }
        let key = key.map(|key| key.name.clone());
        Ok(Self { settings: Arc::clone(settings), to, headers, key, client })
    }
}

impl Target {
    fn has_budget(&self) -> bool {
        let key = self.key.as_deref().and_then(|name| self.settings.key(name));
        key.is_some_and(VirtualKey::has_budget)
    }
}

impl Exchange {
    /// The request with changed tools, if the client's tools are not passed on unchanged.
    async fn with_offered_tools(&mut self) -> Option<Bytes> {
        let prepared = self.prepared().await.ok()?;
        // The offer depends on the results in the request.
        prepared.recorded().await;
        let offered =
            tools::offered(&self.settings, &self.request, &prepared.shown, &prepared.seen).await?;
        let changed = self.request.replace_tools(&offered.tools)?;
        self.tools = Some(offered.summary);
        Some(changed)
    }

    /// Records that there is no answer to judge.
    pub(crate) fn no_answer(self: &Arc<Self>, status: StatusCode, why: &str) {
        let (exchange, status) = (Arc::clone(self), status.as_u16());
        let conclusion = Conclusion { unjudged: Some(why.to_owned()), ..Conclusion::default() };
        let became = Became { what: "no answer", status, ..Became::default() };
        self.proxy.spawn(async move { exchange.done(conclusion, became).await });
    }
}

/// Reads a whole request body.
async fn received(body: Incoming, limit: usize) -> Result<Bytes, (StatusCode, String)> {
    let too_long = || {
        let what = format!("the request is longer than {limit} bytes (`proxy.max_body_bytes`)");
        (StatusCode::PAYLOAD_TOO_LARGE, what)
    };
    if body.size_hint().lower() > limit as u64 {
        // A client does not read an answer before it has sent its request.
        discard(body).await;
        return Err(too_long());
    }
    match timeout(BODY, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) => {
            Err((StatusCode::BAD_REQUEST, format!("the request cannot be read: {error}")))
        }
        Err(_) => {
            let what = format!("the request did not arrive within {} s", BODY.as_secs());
            Err((StatusCode::REQUEST_TIMEOUT, what))
        }
    }
}

/// Discards the rest of a body, up to a limit.
async fn discard(body: Incoming) {
    const MOST: usize = 256 * 1024 * 1024;
    let body = Limited::new(body, MOST);
    tokio::pin!(body);
    let all = async { while body.frame().await.is_some_and(|frame| frame.is_ok()) {} };
    timeout(Duration::from_secs(5), all).await.ok();
}

/// Decompresses a request, unless it is longer than allowed.
fn unpacked(body: &[u8], limit: usize) -> Option<Bytes> {
    let mut plain = Vec::new();
    let reader = counterfoil_formats::decompressed(body).ok()?;
    reader.take(limit as u64 + 1).read_to_end(&mut plain).ok()?;
    (plain.len() <= limit).then(|| Bytes::from(plain))
}
