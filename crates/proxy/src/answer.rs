//! Handles a server's answer on its way to the client.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::correct::is_stream;
use crate::exchange::Exchange;
use crate::forward::{Body, onward, passing, whole};
use crate::options::{ProxyMode, ProxySettings};
use crate::piece::{self, Piece, Withheld};
use crate::relay::Relay;
use crate::request::is_utf8;
use crate::wire::Wire;
use crate::{failure, notes};

/// The maximum number of pieces of an answer that wait for a slow client. Then its server waits,
/// too.
const WAITING: usize = 16;

/// The maximum length of a non-streamed answer that is judged, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// The header that says what was changed about the tools.
const TOOLS: HeaderName = HeaderName::from_static("counterfoil-tools");

/// The prefix of our headers for programs.
const OURS: &str = "counterfoil-";

pub(crate) type Out = Response<Body>;

/// Sends the request to the server, and returns its answer for the client.
pub(crate) async fn respond(exchange: &Arc<Exchange>, body: Bytes) -> Out {
    let wire = Some(exchange.wire());
    let pending = exchange.proxy.servers.ask(
        &exchange.to,
        Method::POST,
        exchange.headers.clone(),
        whole(body),
        exchange.settings.silence,
    );
    let response = match pending.await {
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
    let settings = &exchange.settings;
    let mut headers = from_server(&head.headers, settings);
    if let Some(summary) =
        exchange.tools.as_ref().and_then(|summary| HeaderValue::from_str(summary).ok())
    {
        headers.insert(TOOLS, summary);
    }
    if !head.status.is_success() {
        exchange.no_answer(head.status, "the server refused the request");
        return refused(exchange, head.status, headers, body).await;
    }
    if let Some(why) = unreadable(&head.headers) {
        exchange.no_answer(head.status, why);
        if settings.mode.holds() {
            return failed(wire, StatusCode::BAD_GATEWAY, &notes::unjudged(why));
        }
        if settings.mode != ProxyMode::Observe {
            headers.extend(piece::found(&notes::machine(&[], &[], Some(why))));
        }
        return answered(head.status, headers, passing(body));
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
    let body = match collected(body, exchange.settings.silence, LONGEST).await {
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
        Err(Withheld(why)) => failed(wire, StatusCode::BAD_GATEWAY, &notes::unjudged(&why)),
    }
}

/// The error that a server returned, for the client.
async fn refused(
    exchange: &Arc<Exchange>,
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
) -> Out {
    let (wire, settings) = (Some(exchange.wire()), &exchange.settings);
    let holds = settings.mode.holds();
    if !holds && settings.keys.is_empty() {
        return answered(status, headers, passing(body));
    }
    if holds && status.is_redirection() {
        let why = "the server redirects to an address that is not checked: set that address in \
                   `proxy.openai_url` or `proxy.anthropic_url`";
        return failed(wire, StatusCode::BAD_GATEWAY, why);
    }
    let body = match collected(body, settings.silence, failure::LONGEST).await {
        Ok(body) => body,
        Err(why) => return failed(wire, StatusCode::BAD_GATEWAY, &why),
    };
    if !holds {
        return answered(status, headers, whole(settings.without_keys(&body)));
    }
    let readable = unreadable(&headers).is_none();
    match failure::body(exchange, &body).await.filter(|_| readable) {
        Some(body) => answered(status, headers, whole(body)),
        None => {
            let why = "the server refused the request; its error message was held back";
            failed(wire, status, why)
        }
    }
}

/// Why the headers of an answer exclude UTF-8 text.
fn unreadable(headers: &HeaderMap) -> Option<&'static str> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        return Some("the answer is compressed although the request did not ask for compression");
    }
    (!is_utf8(headers)).then_some("the answer is not in UTF-8")
}

/// The headers of an answer, for the client. Only we may set our own headers, and no key of a
/// provider is passed on.
pub(crate) fn from_server(headers: &HeaderMap, settings: &ProxySettings) -> HeaderMap {
    let mut headers = onward(headers);
    let own: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with(OURS)).cloned().collect();
    own.iter().for_each(|name| drop(headers.remove(name)));
    if !settings.keys.is_empty() {
        for value in headers.values_mut() {
            let bare = settings.without_keys(&Bytes::copy_from_slice(value.as_bytes()));
            // A value that is not a valid header any more becomes empty.
            *value = HeaderValue::from_bytes(&bare).unwrap_or(HeaderValue::from_static(""));
        }
    }
    headers
}

/// Reads a whole answer. `silence` is the maximum time between two pieces.
pub(crate) async fn collected(
    mut body: Incoming,
    silence: Duration,
    longest: usize,
) -> Result<Bytes, String> {
    let mut bytes = Vec::new();
    loop {
        let frame = match timeout(silence, body.frame()).await {
            Err(_) => return Err(format!("the server sent nothing for {} s", silence.as_secs())),
            Ok(None) => return Ok(Bytes::from(bytes)),
            Ok(Some(Err(error))) => return Err(format!("the answer was cut off: {error}")),
            Ok(Some(Ok(frame))) => frame,
        };
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > longest {
            return Err(format!("the answer is longer than {longest} bytes"));
        }
    }
}

pub(crate) fn answered(status: StatusCode, headers: HeaderMap, body: Body) -> Out {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}

pub(crate) fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Out {
    let kind = HeaderValue::from_static(kind);
    answered(status, HeaderMap::from_iter([(header::CONTENT_TYPE, kind)]), whole(text.into()))
}

pub(crate) fn failed(wire: Option<Wire>, status: StatusCode, why: &str) -> Out {
    let mut answer = text(status, "application/json", Wire::error(wire, status.as_u16(), why));
    if status == StatusCode::TOO_MANY_REQUESTS {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    }
    answer
}
