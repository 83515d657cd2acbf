//! Requests come in here.

use std::future::Future;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
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

use super::Proxy;
use super::correct::is_stream;
use super::exchange::{Became, Conclusion, Exchange};
use super::forward::{Body, BoxError, address, onward, onward_readable, passing, whole};
use super::keys::VirtualKey;
use super::options::{ProxyMode, ProxySettings};
use super::piece::{self, Piece, Withheld};
use super::relay::Relay;
use super::request::Asked;
use super::seen::Open;
use super::tools;
use super::wire::Wire;
use crate::http::{Listening, listen};

/// How long open requests have to end when the process is stopped.
const GRACE: Duration = Duration::from_secs(30);

/// How long a client may take for a request.
const BODY: Duration = Duration::from_secs(60);

/// How often sessions that nobody uses are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// So many pieces of an answer may wait for a slow client; then its server waits, too.
const WAITING: usize = 16;

/// The longest answer in one piece that is judged, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// Where operators ask.
const OWN: &str = "/counterfoil/";

/// What is different about the tools.
const TOOLS: HeaderName = HeaderName::from_static("counterfoil-tools");

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
    let answering = move |request, from| {
        let proxy = Arc::clone(&proxy);
        async move { proxy.answer(request, from).await }
    };
    let ended = listen(Listening { listener, tls, grace: GRACE }, stop, answering).await;
    sweeping.abort();
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
        let key = match VirtualKey::of(&settings.keys, request.headers(), self.clock.wall()) {
            Ok(key) => key,
            Err(error) => return failed(wire, error.status(), &error.to_string()),
        };
        if path == "/metrics" {
            let metrics = self.log.metrics(self.sessions.len());
            return text(StatusCode::OK, "text/plain; version=0.0.4", metrics);
        }
        if let Some(what) = path.strip_prefix(OWN) {
            return self.own(what, settings.mode);
        }
        let (head, body) = request.into_parts();
        let of_anthropic = wire == Some(Wire::Messages)
            || head.headers.contains_key("anthropic-version")
            || head.headers.contains_key("x-api-key");
        let server = if of_anthropic { &settings.anthropic } else { &settings.openai };
        let Some(to) = address(server, &head.uri) else {
            return failed(wire, StatusCode::BAD_REQUEST, "the path cannot be asked for");
        };
        let mut headers = match wire {
            Some(_) => onward_readable(&head.headers),
            None => onward(&head.headers),
        };
        headers.remove("x-counterfoil-session");
        if let Some(key) = key {
            key.replace_in(&mut headers, wire);
        }
        let owner = key.map(|key| key.name.clone());
        let way = Way { settings: Arc::clone(&settings), to, headers, owner };
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
        if body.size_hint().lower() > limit as u64 {
            // A client reads no answer before it has sent its request.
            discard(body).await;
            let what = format!("the request is longer than {limit} bytes (`proxy.max_body_bytes`)");
            return failed(Some(wire), StatusCode::PAYLOAD_TOO_LARGE, &what);
        }
        let body = match timeout(BODY, Limited::new(body, limit).collect()).await {
            Err(_) => {
                let what = format!("the request was not there within {} s", BODY.as_secs());
                return failed(Some(wire), StatusCode::REQUEST_TIMEOUT, &what);
            }
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) => {
                let what =
                    format!("the request cannot be read, or is longer than {limit} bytes: {error}");
                return failed(Some(wire), StatusCode::PAYLOAD_TOO_LARGE, &what);
            }
        };
        let plain = match given.get(header::CONTENT_ENCODING) {
            Some(_) => unpacked(&body, limit),
            None => Some(body.clone()),
        };
        let asked = plain.and_then(|plain| Asked::read(wire, given, plain));
        let Some(asked) = asked else {
            // Its server says what is wrong with it.
            tracing::warn!("a request on the wire `{}` cannot be read, and passes", wire.name());
            return self.pass(way, Method::POST, whole(body)).await;
        };
        let compressed = given.contains_key(header::CONTENT_ENCODING);
        self.exchange(way, asked, body, compressed).await
    }

    async fn exchange(
        self: Arc<Self>,
        way: Way,
        asked: Asked,
        mut body: Bytes,
        compressed: bool,
    ) -> Out {
        let Way { settings, to, mut headers, owner } = way;
        if compressed && settings.mode != ProxyMode::Observe {
            // Whoever asks again asks in plain JSON.
            headers.remove(header::CONTENT_ENCODING);
            body = asked.body.clone();
        }
        let wire = asked.wire;
        let changes = settings.mode != ProxyMode::Observe && tools::may_change(&self.guard, &asked);
        let (method, silence) = (Method::POST, settings.silence);
        let place = (to.clone(), headers.clone());
        let mut exchange = Exchange::new(Arc::clone(&self), settings, asked, owner, place);
        if changes
            && let Ok(prepared) = exchange.prepared().await
            && let Some(offered) = tools::offered(
                &self.guard,
                &exchange.settings,
                &exchange.asked,
                &prepared.shown,
                &prepared.seen,
            )
            .await
        {
            if let Some(changed) = exchange.asked.with_tools(&offered.tools) {
                body = changed.clone();
                exchange.asked.tools = None;
                exchange.asked.body = changed;
            }
            exchange.tools = Some(offered.told);
        }
        let log = &self.log;
        let _open = Open::of(&log.open);
        let exchange = Arc::new(exchange);
        match self.servers.ask(&to, method, headers, whole(body), silence).await {
            Err(error) => {
                exchange.no_answer(StatusCode::BAD_GATEWAY, &error.to_string());
                failed(Some(wire), StatusCode::BAD_GATEWAY, &error.to_string())
            }
            Ok(response) => respond(&exchange, response).await,
        }
    }

    /// What operators ask for.
    fn own(&self, what: &str, mode: ProxyMode) -> Out {
        let found = match what {
            "status" => self.log.status(self.sessions.len(), mode.name()),
            "sessions" => self.sessions_told(),
            "events" => return self.events(),
            _ => {
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
        let rest = stream::unfold(rest, |mut rest| async move {
            loop {
                match rest.recv().await {
                    Ok(exchanged) => return Some((exchanged, rest)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        });
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
    owner: Option<String>,
}

impl Exchange {
    /// There is no answer that could be judged.
    fn no_answer(self: &Arc<Self>, status: StatusCode, why: &str) {
        let (exchange, status) = (Arc::clone(self), status.as_u16());
        let conclusion = Conclusion { unjudged: Some(why.to_owned()), ..Conclusion::default() };
        let became = Became { what: "no answer", status, ..Became::default() };
        tokio::spawn(async move { exchange.done(&conclusion, became).await });
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

/// The answer of a server, for the client.
async fn respond(exchange: &Arc<Exchange>, response: Response<Incoming>) -> Out {
    let streams = is_stream(&response);
    let (head, body) = response.into_parts();
    let mut headers = onward(&head.headers);
    if let Some(told) = exchange.tools.as_ref().and_then(|told| HeaderValue::from_str(told).ok()) {
        headers.insert(TOOLS, told);
    }
    let encoded = head.headers.contains_key(header::CONTENT_ENCODING);
    if head.status != StatusCode::OK || encoded {
        let why = if encoded { "its answer is compressed" } else { "its server refuses it" };
        exchange.no_answer(head.status, why);
        return answered(head.status, headers, passing(body));
    }
    let status = head.status.as_u16();
    if streams {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(Relay::new(Arc::clone(exchange), sender).run(status, body));
        let pieces = stream::unfold(receiver, |mut receiver| async move {
            let piece = receiver.recv().await?;
            Some((piece.map(Frame::data), receiver))
        });
        return answered(head.status, headers, StreamBody::new(pieces).boxed_unsync());
    }
    let wire = Some(exchange.wire());
    let read = timeout(exchange.settings.silence, Limited::new(body, LONGEST).collect()).await;
    let body = match read {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => {
            let why = format!("the answer of the server broke off: {error}");
            exchange.no_answer(StatusCode::BAD_GATEWAY, &why);
            return failed(wire, StatusCode::BAD_GATEWAY, &why);
        }
        Err(_) => {
            let why = "the answer of the server did not come to its end in time";
            exchange.no_answer(StatusCode::GATEWAY_TIMEOUT, why);
            return failed(wire, StatusCode::GATEWAY_TIMEOUT, why);
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
