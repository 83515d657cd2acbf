//! Sends requests to a provider's server.

use std::time::Duration;

use counterfoil_providers::{Connector, causes};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

/// The error type of bodies.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body from any source.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Headers that belong to a single connection.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::HOST,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The maximum number of bytes of an answer that are read ahead of a slow client.
const READ_AHEAD: usize = 64 * 1024;

/// A server could not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot reach the server `{host}`: {why}")]
pub(crate) struct NotReached {
    host: String,
    why: String,
}

/// Connections to servers.
pub(crate) struct Servers(Client<Connector, Body>);

impl Servers {
    pub(crate) fn new() -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_idle_timeout(Duration::from_secs(60)).http1_max_buf_size(READ_AHEAD);
        Self(builder.build(Connector::with_http2()))
    }

    /// Sends a request. Returns the head of the answer, with its body still to come.
    pub(crate) async fn ask(
        &self,
        to: &Uri,
        method: Method,
        headers: HeaderMap,
        body: Body,
        silence: Duration,
    ) -> Result<Response<Incoming>, NotReached> {
        let host = to.authority().map(ToString::to_string).unwrap_or_default();
        let failed = |why: String| NotReached { host: host.clone(), why };
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = to.clone();
        *request.headers_mut() = headers;
        match timeout(silence, self.0.request(request)).await {
            Err(_) => Err(failed(format!("it sent nothing for {} s", silence.as_secs()))),
            Ok(Err(error)) => Err(failed(causes(&error))),
            Ok(Ok(response)) => Ok(response),
        }
    }
}

/// Turns bytes into a body.
pub(crate) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// A received body, to be passed on.
pub(crate) fn passing(body: Incoming) -> Body {
    body.map_err(BoxError::from).boxed_unsync()
}

/// The address on a server that corresponds to the client's request.
pub(crate) fn address(server: &Uri, requested: &Uri) -> Option<Uri> {
    let path = requested.path_and_query().map_or("/", |path| path.as_str());
    if !path.starts_with('/') {
        return None;
    }
    let before = server.path().trim_end_matches('/');
    let scheme = server.scheme_str()?;
    format!("{scheme}://{}{before}{path}", server.authority()?).parse().ok()
}

/// The headers that are passed on: without those of the connection.
pub(crate) fn onward(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let mut onward = headers.clone();
    for name in OF_CONNECTION.iter().chain(&named) {
        onward.remove(name);
    }
    onward
}

/// The headers that are passed on for an answer that has to be readable: it must not be compressed.
pub(crate) fn onward_readable(headers: &HeaderMap) -> HeaderMap {
    let mut onward = onward(headers);
    onward.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    onward
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_appended_to_the_address_of_the_server() {
        for (server, requested, expected) in [
            (
                "https://api.example",
                "/v1/messages?beta=true",
                "https://api.example/v1/messages?beta=true",
            ),
            ("http://127.0.0.1:9/shown/", "/v1/models", "http://127.0.0.1:9/shown/v1/models"),
            ("http://[::1]:9", "/", "http://[::1]:9/"),
        ] {
            let (server, requested) = (server.parse().unwrap(), requested.parse().unwrap());
            assert_eq!(address(&server, &requested).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn headers_of_a_connection_stay_on_it() {
        let headers = HeaderMap::from_iter(
            [("connection", "x-hop, close"), ("x-hop", "1"), ("host", "a"), ("x-api-key", "k")]
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())),
        );
        let onward = onward(&headers);
        let names: Vec<&str> = onward.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-api-key"]);
    }
}
