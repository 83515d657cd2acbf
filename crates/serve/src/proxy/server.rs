//! Requests come in here.

use std::future::Future;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use counterfoil_guard::Clock as _;
use counterfoil_model::Digest;

use super::Proxy;
use super::correct::is_stream;
use super::exchange::{Became, Conclusion, Exchange};
use super::forward::{Body, BoxError, address, onward, onward_readable, passing, whole};
use super::keys::{VirtualKey, given};
use super::options::{KeyProvider, ProxyMode, ProxySettings};
use super::piece::{self, Piece, Withheld};
use super::relay::Relay;
use super::request::Asked;
use super::tools;
use super::wire::Wire;
use crate::http::{Listening, listen};

/// How long open requests have to end when the process is stopped.
const GRACE: Duration = Duration::from_secs(30);

/// How long what is still to be written down may take then.
const RECORDS: Duration = Duration::from_secs(5);

/// How long a client may take for a request.
const BODY: Duration = Duration::from_secs(60);

/// How often sessions that nobody uses are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// So many pieces of an answer may wait for a slow client; then its server waits, too.
const WAITING: usize = 16;

/// The longest answer in one piece that is judged, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// A longer request is read on another thread.
const AT_ONCE: usize = 256 * 1024;

/// Where operators ask.
const OWN: &str = "/counterfoil/";

/// What is different about the tools.
const TOOLS: HeaderName = HeaderName::from_static("counterfoil-tools");

/// What programs read of us.
const OURS: [&str; 3] = ["counterfoil-findings", "counterfoil-corrections", "counterfoil-tools"];

type Out = Response<Body>;

/// The proxy cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Connections are no longer taken.
    #[error("no connection can be taken: {0}")]
    Accept(#[from] io::Error),
    /// The files for encryption.
    #[error("clients cannot be answered encrypted: {0}")]
    Tls(String),
}

/// What answers clients encrypted, from the files of a certificate and its key.
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

/// Answers requests until `stop` is there; then open ones are waited for.
///
/// # Errors
/// When no connection can be taken any more.
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
        // Whoever only looks on does not keep us.
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
        let wire = Wire::of(path).filter(|_| request.method() == Method::POST);
        if let Err(error) = settings.access.check(request.headers(), from, &self.counted) {
            return failed(wire, error.status(), &error.to_string());
        }
        if path == "/metrics" || path.starts_with(OWN) {
            return self.own(path, request.headers(), from, &settings);
        }
        let key = match VirtualKey::of(&settings.keys, request.headers(), self.clock.wall()) {
            Ok(key) => key,
            Err(error) => return failed(wire, error.status(), &error.to_string()),
        };
        let (head, body) = request.into_parts();
        let way = match Way::of(&settings, wire, &head, key) {
            Ok(way) => way,
            Err((status, why)) => return failed(wire, status, why),
        };
        match wire {
            Some(wire) => self.ask(wire, way, &head.headers, body).await,
            None => self.pass(way, head.method, passing(body)).await,
        }
    }

    /// Passes on what is not judged.
    async fn pass(&self, way: Way, method: Method, body: Body) -> Out {
        let Way { settings, to, headers, .. } = way;
        match self.servers.ask(&to, method, headers, body, settings.silence).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                answered(head.status, onward(&head.headers), passing(body))
            }
            Err(error) => failed(None, StatusCode::BAD_GATEWAY, &error.to_string()),
        }
    }

    /// Asks a model.
    async fn ask(self: Arc<Self>, wire: Wire, way: Way, given: &HeaderMap, body: Incoming) -> Out {
        let limit = way.settings.max_body_bytes;
        let body = match received(body, limit).await {
            Ok(body) => body,
            Err((status, why)) => return failed(Some(wire), status, &why),
        };
        let compressed = given.contains_key(header::CONTENT_ENCODING);
        let (headers, packed) = (given.clone(), body.clone());
        let read = move || {
            let plain = if compressed { unpacked(&packed, limit)? } else { packed };
            Asked::read(wire, &headers, plain)
        };
        let asked = match body.len() > AT_ONCE || compressed {
            true => tokio::task::spawn_blocking(read).await.ok().flatten(),
            false => read(),
        };
        match asked {
            Some(asked) if asked.background && way.settings.withholds() => {
                let why = "an answer that comes later cannot be judged: ask without `background`";
                failed(Some(wire), StatusCode::BAD_REQUEST, why)
            }
            Some(asked) => self.exchange(way, asked, body, compressed).await,
            None if way.settings.withholds() => {
                let why = "the request cannot be read, so its answer could not be judged";
                failed(Some(wire), StatusCode::BAD_REQUEST, why)
            }
            None => {
                // Its server says what is wrong with it.
                let wire = wire.name();
                tracing::warn!("a request on the wire `{wire}` cannot be read, and passes");
                self.pass(way, Method::POST, whole(body)).await
            }
        }
    }

    async fn exchange(
        self: Arc<Self>,
        way: Way,
        asked: Asked,
        mut body: Bytes,
        compressed: bool,
    ) -> Out {
        let Way { settings, to, mut headers, key, client } = way;
        if compressed && settings.mode != ProxyMode::Observe {
            // Whoever asks again asks in plain JSON.
            headers.remove(header::CONTENT_ENCODING);
            body = asked.body.clone();
        }
        let changes = settings.mode != ProxyMode::Observe && tools::may_change(&self.guard, &asked);
        let place = (to, headers);
        let mut exchange = Exchange::new(Arc::clone(&self), settings, asked, (key, client), place);
        if changes && let Some(changed) = exchange.with_offered_tools().await {
            body = changed;
        }
        let exchange = Arc::new(exchange);
        // A client that leaves ends this future, and what runs has to know.
        let (here, gone) = tokio::sync::oneshot::channel::<()>();
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.spawn(async move {
            tokio::select! {
                response = respond(&exchange, body) => {
                    // It may have left meanwhile.
                    answer.send(response).ok();
                }
                _ = gone => exchange.no_answer(StatusCode::OK, "its client left"),
            }
        });
        let response = answered.await;
        drop(here);
        response.unwrap_or_else(|_| {
            failed(None, StatusCode::INTERNAL_SERVER_ERROR, "the answer was lost on the way")
        })
    }

    /// What operators ask for: from this machine, or with their token.
    fn own(&self, path: &str, headers: &HeaderMap, from: IpAddr, settings: &ProxySettings) -> Out {
        let token = given(headers).map(|token| Digest::of_bytes(token.as_bytes()));
        let known = settings.operators.is_some() && token == settings.operators;
        if !from.is_loopback() && !known {
            let why = "status and metrics are seen from this machine, or with the token that \
                       `proxy.token_env` names";
            return failed(None, StatusCode::UNAUTHORIZED, why);
        }
        let found = match path.strip_prefix(OWN) {
            None => {
                let metrics = self.log.metrics(self.sessions.len());
                return text(StatusCode::OK, "text/plain; version=0.0.4", metrics);
            }
            Some("status") => self.log.status(self.sessions.len(), settings.mode.name()),
            Some("sessions") => self.sessions_told(),
            Some("events") => return self.events(),
            Some(_) => {
                let what = "there are `status`, `sessions` and `events`";
                return failed(None, StatusCode::NOT_FOUND, what);
            }
        };
        text(StatusCode::OK, "application/json", found.to_string())
    }

    fn sessions_told(&self) -> Value {
        let all = self.sessions.all();
        let told = all.iter().map(|seen| {
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
        told.collect()
    }

    /// The last exchanges, and every one to come.
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

/// Where a request goes.
struct Way {
    settings: Arc<ProxySettings>,
    to: Uri,
    headers: HeaderMap,
    /// The name of its key of ours.
    key: Option<String>,
    /// Which client it is of, by its key; nothing of the key can be read from it.
    client: String,
}

impl Way {
    fn of(
        settings: &Arc<ProxySettings>,
        wire: Option<Wire>,
        head: &Parts,
        key: Option<&VirtualKey>,
    ) -> Result<Self, (StatusCode, &'static str)> {
        let of_anthropic = wire == Some(Wire::Messages)
            || head.headers.contains_key("anthropic-version")
            || head.headers.contains_key("x-api-key") && wire.is_none();
        let provider = if of_anthropic { KeyProvider::Anthropic } else { KeyProvider::Openai };
        if key.is_some_and(|key| key.provider != provider) {
            return Err((StatusCode::FORBIDDEN, "this key is one of another provider"));
        }
        if settings.withholds()
            && head.method == Method::GET
            && Wire::is_kept_answer(head.uri.path())
        {
            let why = "an answer that was kept is not judged again: ask for it without `store`";
            return Err((StatusCode::FORBIDDEN, why));
        }
        let server = if of_anthropic { &settings.anthropic } else { &settings.openai };
        let to = address(server, &head.uri)
            .ok_or((StatusCode::BAD_REQUEST, "there is no such address on its server"))?;
        let mut headers = match wire {
            Some(_) => onward_readable(&head.headers),
            None => onward(&head.headers),
        };
        headers.remove("x-counterfoil-session");
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

impl Exchange {
    /// The request with other tools, where those of the client do not go on.
    async fn with_offered_tools(&mut self) -> Option<Bytes> {
        let prepared = self.prepared().await.ok()?;
        // What its results show is part of what decides.
        prepared.recorded().await;
        let (guard, settings) = (&self.proxy.guard, &self.settings);
        let offered =
            tools::offered(guard, settings, &self.asked, &prepared.shown, &prepared.seen).await?;
        let changed = self.asked.with_tools(&offered.tools)?;
        self.asked.tools = None;
        self.asked.body = changed.clone();
        self.tools = Some(offered.told);
        Some(changed)
    }

    /// There is no answer that could be judged.
    fn no_answer(self: &Arc<Self>, status: StatusCode, why: &str) {
        let (exchange, status) = (Arc::clone(self), status.as_u16());
        let conclusion = Conclusion { unjudged: Some(why.to_owned()), ..Conclusion::default() };
        let became = Became { what: "no answer", status, ..Became::default() };
        self.proxy.spawn(async move { exchange.done(conclusion, became).await });
    }
}

/// A request to its end.
async fn received(body: Incoming, limit: usize) -> Result<Bytes, (StatusCode, String)> {
    let too_long = || {
        let what = format!("the request is longer than {limit} bytes (`proxy.max_body_bytes`)");
        (StatusCode::PAYLOAD_TOO_LARGE, what)
    };
    if body.size_hint().lower() > limit as u64 {
        // A client reads no answer before it has sent its request.
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
            let what = format!("the request did not come within {} s", BODY.as_secs());
            Err((StatusCode::REQUEST_TIMEOUT, what))
        }
    }
}

/// An answer to its end; between two pieces of it its server may be silent for so long.
async fn collected(mut body: Incoming, silence: Duration) -> Result<Bytes, String> {
    let mut bytes = Vec::new();
    loop {
        let frame = match timeout(silence, body.frame()).await {
            Err(_) => return Err(format!("its server said nothing for {} s", silence.as_secs())),
            Ok(None) => return Ok(Bytes::from(bytes)),
            Ok(Some(Err(error))) => return Err(format!("its answer broke off: {error}")),
            Ok(Some(Ok(frame))) => frame,
        };
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > LONGEST {
            return Err("its answer is longer than 64 MiB".to_owned());
        }
    }
}

/// Reads what nobody wants, for as long as that is bearable.
async fn discard(body: Incoming) {
    const MOST: usize = 256 * 1024 * 1024;
    let body = Limited::new(body, MOST);
    tokio::pin!(body);
    let all = async { while body.frame().await.is_some_and(|frame| frame.is_ok()) {} };
    timeout(Duration::from_secs(5), all).await.ok();
}

/// A packed request, unless it is longer than it may be.
fn unpacked(body: &[u8], limit: usize) -> Option<Bytes> {
    let mut plain = Vec::new();
    let reader = counterfoil_formats::decompressed(body).ok()?;
    reader.take(limit as u64 + 1).read_to_end(&mut plain).ok()?;
    (plain.len() <= limit).then(|| Bytes::from(plain))
}

/// Asks the server; its answer, for the client.
async fn respond(exchange: &Arc<Exchange>, body: Bytes) -> Out {
    let wire = Some(exchange.wire());
    let asked = exchange.proxy.servers.ask(
        &exchange.to,
        Method::POST,
        exchange.headers.clone(),
        whole(body),
        exchange.settings.silence,
    );
    let response = match asked.await {
        Ok(response) => response,
        Err(error) => {
            exchange.no_answer(StatusCode::BAD_GATEWAY, &error.to_string());
            return failed(wire, StatusCode::BAD_GATEWAY, &error.to_string());
        }
    };
    passed_on(exchange, response).await
}

/// The answer of a server, for the client.
async fn passed_on(exchange: &Arc<Exchange>, response: Response<Incoming>) -> Out {
    let wire = Some(exchange.wire());
    let streams = is_stream(&response);
    let (head, body) = response.into_parts();
    let mut headers = onward(&head.headers);
    // Only we say what we found.
    OURS.iter().for_each(|name| drop(headers.remove(*name)));
    if let Some(told) = exchange.tools.as_ref().and_then(|told| HeaderValue::from_str(told).ok()) {
        headers.insert(TOOLS, told);
    }
    let encoding = head.headers.get(header::CONTENT_ENCODING);
    let encoded = encoding.is_some_and(|encoding| encoding != "identity");
    if !head.status.is_success() {
        exchange.no_answer(head.status, "its server refuses it");
        return answered(head.status, headers, passing(body));
    }
    if encoded {
        let why = "its answer is compressed, and nobody asked for that";
        exchange.no_answer(head.status, why);
        return match exchange.settings.withholds() {
            true => failed(wire, StatusCode::BAD_GATEWAY, &super::notes::unjudged(why)),
            false => answered(head.status, headers, passing(body)),
        };
    }
    let status = head.status.as_u16();
    if streams {
        let (sender, receiver) = mpsc::channel(WAITING);
        exchange.proxy.spawn(Relay::new(Arc::clone(exchange), sender).run(status, body));
        let pieces = stream::unfold(receiver, |mut receiver| async move {
            let piece = receiver.recv().await?;
            Some((piece.map(Frame::data), receiver))
        });
        return answered(head.status, headers, StreamBody::new(pieces).boxed_unsync());
    }
    let body = match collected(body, exchange.settings.silence).await {
        Ok(body) => body,
        Err(why) => {
            exchange.no_answer(StatusCode::BAD_GATEWAY, &why);
            return failed(wire, StatusCode::BAD_GATEWAY, &why);
        }
    };
    match piece::answer(exchange, status, body).await {
        Ok(Piece { body, headers: more }) => {
            headers.extend(more);
            answered(head.status, headers, whole(body))
        }
        Err(Withheld(why)) => {
            let why = super::notes::unjudged(&why);
            failed(wire, StatusCode::BAD_GATEWAY, &why)
        }
    }
}

fn answered(status: StatusCode, headers: HeaderMap, body: Body) -> Out {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}

fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Out {
    let kind = HeaderValue::from_static(kind);
    answered(status, HeaderMap::from_iter([(header::CONTENT_TYPE, kind)]), whole(text.into()))
}

fn failed(wire: Option<Wire>, status: StatusCode, why: &str) -> Out {
    let mut answer = text(status, "application/json", Wire::error(wire, status.as_u16(), why));
    if status == StatusCode::TOO_MANY_REQUESTS {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    }
    answer
}
