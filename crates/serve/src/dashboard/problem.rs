//! Errors in response to requests.

use counterfoil_guard::{AppendError, ReadLedgerError};
use hyper::header::{self, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::json;

use crate::http::{Answer, answer};

/// A problem as defined in RFC 9457.
#[derive(Debug, Clone)]
pub(crate) struct HttpProblem {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// The allowed methods, if another one was used.
    pub(crate) allow: Vec<Method>,
}

impl HttpProblem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), allow: Vec::new() }
    }

    /// The request is invalid.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The requested item does not exist.
    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    /// The visitor does not have permission.
    pub(crate) fn forbidden(why: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, why)
    }

    /// The method is not allowed.
    pub(crate) fn method(allow: Vec<Method>) -> Self {
        let names: Vec<&str> = allow.iter().map(Method::as_str).collect();
        let detail = format!("method not allowed: use {}", names.join(" or "));
        Self { allow, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, detail) }
    }

    /// The problem as JSON.
    pub(crate) fn json(&self) -> Answer {
        let title = self.status.canonical_reason().unwrap_or_default();
        let body = json!({
            "type": "about:blank",
            "title": title,
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let mut response = answer(self.status, "application/problem+json", body.to_string());
        self.head(&mut response);
        response
    }

    /// Adds the headers that belong to the problem.
    pub(crate) fn head(&self, response: &mut Answer) {
        let headers = response.headers_mut();
        if !self.allow.is_empty() {
            let names: Vec<&str> = self.allow.iter().map(Method::as_str).collect();
            if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
                headers.insert(header::ALLOW, value);
            }
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let again = match self.status {
            StatusCode::TOO_MANY_REQUESTS => Some("60"),
            StatusCode::SERVICE_UNAVAILABLE => Some("2"),
            _ => None,
        };
        if let Some(again) = again {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(again));
        }
    }
}

impl From<ReadLedgerError> for HttpProblem {
    fn from(error: ReadLedgerError) -> Self {
        tracing::error!("{error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl From<AppendError> for HttpProblem {
    fn from(error: AppendError) -> Self {
        tracing::error!("{error}");
        let what = format!("the decision was not saved and has no effect: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }
}
