//! Builds responses to clients.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use tokio::time::timeout;

use crate::connection::{ClientReply, ReplyEvents};
use crate::mcp::on_one_line;
use crate::upstream::{Content, Event};

/// How often an idle stream sends a comment, so that proxies do not close it.
const STILL_THERE: Duration = Duration::from_secs(15);

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

pub(crate) fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = plain(status, text.into());
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

pub(crate) fn json(status: StatusCode, text: String) -> Answer {
    answer(status, "application/json", on_one_line(&text).into_owned())
}

fn plain(status: StatusCode, bytes: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(bytes).boxed_unsync());
    *answer.status_mut() = status;
    answer
}

/// A reply as an HTTP response.
pub(crate) fn answer_from_reply(client_reply: ClientReply) -> Answer {
    match client_reply {
        ClientReply::Message(text) => json(StatusCode::OK, text),
        ClientReply::Taken => plain(StatusCode::ACCEPTED, Bytes::new()),
        ClientReply::Answer(head, text) => with(json(head.status, text), head.headers),
        ClientReply::Passed(reply) => {
            let bytes = match reply.content {
                Content::Message(text) => Bytes::from(on_one_line(&text).into_owned()),
                Content::Other(bytes) => bytes,
                Content::Flow(_) => Bytes::new(),
            };
            with(plain(reply.status, bytes), reply.headers)
        }
        ClientReply::Events(reply_events) => events(reply_events),
    }
}

/// Headers of a server that clients get. No other passes: a server sets no cookies in the name of
/// the gateway, and opens it to no other page.
const PASSING: [HeaderName; 8] = [
    header::ALLOW,
    header::CACHE_CONTROL,
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::RETRY_AFTER,
    header::VARY,
    header::WWW_AUTHENTICATE,
];

/// Adds the server's headers, except those we set ourselves.
fn with(mut answer: Answer, headers: HeaderMap) -> Answer {
    let passes = |name: &HeaderName| PASSING.contains(name) || name.as_str().starts_with("mcp-");
    for (name, value) in headers.iter().filter(|(name, _)| passes(name)) {
        answer.headers_mut().entry(name).or_insert_with(|| value.clone());
    }
    answer
}

/// A serialised event, with its message on one line of data.
fn written(event: Event) -> String {
    let data = on_one_line(&event.data).into_owned();
    Event { data, ..event }.written()
}

fn events(reply_events: ReplyEvents) -> Answer {
    let ReplyEvents { head, first, rest } = reply_events;
    let pieces = stream::unfold((first, rest), |(first, mut rest)| async move {
        let text = match first {
            Some(event) => written(event),
            None => match timeout(STILL_THERE, rest.recv()).await {
                Ok(event) => event.map(written)?,
                Err(_) => ":\n\n".to_owned(),
            },
        };
        Some((Ok(Frame::data(Bytes::from(text))), (None, rest)))
    });
    let mut answer = Response::new(StreamBody::new(pieces).boxed_unsync());
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    match head {
        Some(head) => {
            *answer.status_mut() = head.status;
            with(answer, head.headers)
        }
        None => answer,
    }
}
