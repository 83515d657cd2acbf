//! One request and its response, on a connection of its own.

use std::net::SocketAddr;
use std::pin::pin;

use counterfoil_ledger::Egress;
use counterfoil_model::ToolErrorCategory;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::{Host, Url};

use super::body::Unpacked;
use super::target::{Target, blocked};
use crate::{ToolError, classify_io};

/// The maximum size of a response head in bytes.
const LONGEST_HEAD: usize = 64 * 1024;

/// The `User-Agent` header.
const AGENT: &str = concat!("counterfoil/", env!("CARGO_PKG_VERSION"));

/// The `Accept` header.
const ACCEPTED: &str =
    "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.5";

/// A response with its body.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The unpacked body; empty for a redirect.
    pub(super) body: Vec<u8>,
}

/// Any connection.
trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<C: AsyncRead + AsyncWrite + Send + Unpin> Connection for C {}

fn network(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCategory::NetworkError, message)
}

/// Connects to one of the addresses, which were checked, and to no other; sends the request and
/// reads the response. Records what happened in `egress`.
pub(super) async fn exchange(
    target: &Target,
    addresses: &[SocketAddr],
    tls: Option<&TlsConnector>,
    most: u64,
    egress: &mut Egress,
) -> Result<Answered, ToolError> {
    let stream = connect(target, addresses, egress).await?;
    let connection: Box<dyn Connection> = match tls {
        Some(tls) => {
            let failed = |error: std::io::Error| {
                network(format!(
                    "cannot open an encrypted connection to `{}`: {error}",
                    target.name()
                ))
            };
            Box::new(tls.connect(server_name(target)?, stream).await.map_err(failed)?)
        }
        None => Box::new(stream),
    };
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(LONGEST_HEAD)
        .handshake(TokioIo::new(connection))
        .await
        .map_err(|error| failed(target, &error))?;
    let request = request(target)?;
    let mut asking = pin!(async {
        let answer = sender.send_request(request).await.map_err(|error| failed(target, &error))?;
        egress.status = Some(answer.status().as_u16());
        read(target, answer, most, &mut egress.bytes).await
    });
    // The connection is driven in here, so that nothing is left running when this is dropped.
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        answered = &mut asking => return answered,
        _ = &mut connection => {}
    }
    asking.await
}

async fn connect(
    target: &Target,
    addresses: &[SocketAddr],
    egress: &mut Egress,
) -> Result<TcpStream, ToolError> {
    let mut last = None;
    for address in addresses {
        egress.address = Some(address.ip());
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // INVARIANT: the peer is the address that was checked.
                let peer = stream.peer_addr().map_err(|error| network(error.to_string()))?;
                if peer.ip() != address.ip() {
                    let why = format!("connected to {} instead of {}", peer.ip(), address.ip());
                    return Err(blocked(why).into());
                }
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    let name = target.authority();
    Err(match last {
        Some(error) => {
            ToolError::new(classify_io(error.kind()), format!("cannot reach `{name}`: {error}"))
        }
        None => network(format!("`{name}` has no address")),
    })
}

/// The name that the server's certificate must have.
fn server_name(target: &Target) -> Result<ServerName<'static>, ToolError> {
    match &target.host {
        Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::V4(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::V6(*address))),
        Host::Domain(_) => ServerName::try_from(target.name())
            .map_err(|_| blocked(format!("`{}` is not a valid server name", target.name())).into()),
    }
}

fn request(target: &Target) -> Result<Request<Empty<Bytes>>, ToolError> {
    let url = &target.url;
    Request::get(path(url))
        .header(header::HOST, host_header(url))
        .header(header::USER_AGENT, AGENT)
        .header(header::ACCEPT, ACCEPTED)
        .header(header::ACCEPT_ENCODING, "gzip")
        .header(header::CONNECTION, "close")
        .body(Empty::new())
        .map_err(|error| ToolError::new(ToolErrorCategory::InvalidParameters, error.to_string()))
}

fn path(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

async fn read(
    target: &Target,
    answer: hyper::Response<Incoming>,
    most: u64,
    bytes: &mut u64,
) -> Result<Answered, ToolError> {
    let (head, mut body) = answer.into_parts();
    let answered = |body| Answered { status: head.status, headers: head.headers.clone(), body };
    if leads_elsewhere(head.status) {
        return Ok(answered(Vec::new()));
    }
    let too_long = || {
        let message = format!("the response from `{}` is longer than {most} bytes", target.name());
        ToolError::new(ToolErrorCategory::PermanentFailure, message)
    };
    let length = head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > most) {
        return Err(too_long());
    }
    let mut unpacked = Unpacked::new(head.headers.get(header::CONTENT_ENCODING), most)?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failed(target, &error))?;
        let Some(piece) = frame.data_ref() else { continue };
        *bytes += piece.len() as u64;
        if *bytes > most {
            return Err(too_long());
        }
        unpacked.add(piece).map_err(|full| match full {
            super::body::UnpackError::TooLong => too_long(),
            super::body::UnpackError::Broken(reason) => ToolError::new(
                ToolErrorCategory::PermanentFailure,
                format!("the response from `{}` cannot be decompressed: {reason}", target.name()),
            ),
        })?;
    }
    match unpacked.finish() {
        Ok(body) => Ok(answered(body)),
        Err(super::body::UnpackError::TooLong) => Err(too_long()),
        Err(super::body::UnpackError::Broken(reason)) => {
            Err(network(format!("the response from `{}` is incomplete: {reason}", target.name())))
        }
    }
}

/// Whether the response is a redirect.
pub(super) fn leads_elsewhere(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

fn failed(target: &Target, error: &hyper::Error) -> ToolError {
    let reason = std::error::Error::source(error).map(|source| format!(": {source}"));
    let reason = reason.unwrap_or_default();
    network(format!("the connection to `{}` failed: {error}{reason}", target.name()))
}
