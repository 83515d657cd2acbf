//! A request as pages and endpoints receive it: decoded, limited in size, and authenticated.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header;
use hyper::{HeaderMap, StatusCode};
use percent_encoding::percent_decode_str;

use super::problem::HttpProblem;
use super::visitor::Visitor;

/// Maximum size of a request body, in bytes.
pub(crate) const LONGEST_BODY: usize = 512 * 1024;

/// How many bytes of an oversized body are read and dropped before the response, and for how long.
const MOST_DROPPED: usize = 8 * LONGEST_BODY;
const DROPPING: Duration = Duration::from_secs(2);

/// The time limit for receiving the body.
const BODY: Duration = Duration::from_secs(30);

/// Default and maximum number of list entries per page.
pub(crate) const ENTRIES: usize = 50;
pub(crate) const MOST_ENTRIES: usize = 200;

/// An authenticated request.
#[derive(Debug)]
pub(crate) struct VisitorRequest {
    /// The values of the route's parameters, in order.
    pub(crate) named: Vec<String>,
    pub(crate) query: Fields,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) visitor: Visitor,
}

impl VisitorRequest {
    /// The value of a route parameter.
    pub(crate) fn named(&self, at: usize) -> &str {
        self.named.get(at).map(String::as_str).unwrap_or_default()
    }

    /// The requested number of list entries.
    pub(crate) fn limit(&self) -> Result<usize, HttpProblem> {
        let Some(text) = self.query.one("limit")? else { return Ok(ENTRIES) };
        let digits = text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse::<usize>().ok().filter(|_| digits);
        number.filter(|number| (1..=MOST_ENTRIES).contains(number)).ok_or_else(|| {
            HttpProblem::bad(format!("`limit` must be an integer from 1 to {MOST_ENTRIES}"))
        })
    }

    /// The fields of a form in the body.
    pub(crate) fn form(&self) -> Result<Fields, HttpProblem> {
        self.body_is("application/x-www-form-urlencoded")?;
        let text = std::str::from_utf8(&self.body)
            .map_err(|_| HttpProblem::bad("the form is not UTF-8"))?;
        Fields::read(text)
    }

    /// The body, parsed from JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, HttpProblem> {
        self.body_is("application/json")?;
        serde_json::from_slice(&self.body)
            .map_err(|error| HttpProblem::bad(format!("the body is invalid: {error}")))
    }

    fn body_is(&self, kind: &str) -> Result<(), HttpProblem> {
        let given = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let given = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if given.eq_ignore_ascii_case(kind) {
            return Ok(());
        }
        let what = format!("the body must be `{kind}`, declared in `Content-Type`");
        Err(HttpProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what))
    }
}

/// Names and values of a query or a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses a query string or a form.
    pub(crate) fn read(text: &str) -> Result<Self, HttpProblem> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// The value of a name; an error if it is given twice.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, HttpProblem> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| value.as_str());
        match found.next() {
            None => Ok(first),
            Some(_) => Err(HttpProblem::bad(format!("`{name}` is given twice"))),
        }
    }

    /// The value of a name, unless it is missing or blank.
    pub(crate) fn some(&self, name: &str) -> Result<Option<&str>, HttpProblem> {
        Ok(self.one(name)?.filter(|value| !value.trim().is_empty()))
    }

    /// Checks that every name is one of these.
    pub(crate) fn are_among(&self, known: &[&str]) -> Result<(), HttpProblem> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let known = match known {
                    [] => "expected none".to_owned(),
                    known => format!("expected `{}`", known.join("`, `")),
                };
                Err(HttpProblem::bad(format!("`{name}` is not a parameter: {known}")))
            }
        }
    }
}

/// The segments of a path, decoded.
pub(crate) fn segments(path: &str) -> Result<Vec<String>, HttpProblem> {
    path.split('/').skip(1).map(decoded).collect()
}

/// Decodes `%XX` escapes.
fn decoded(text: &str) -> Result<String, HttpProblem> {
    let bytes = percent_decode_str(text).decode_utf8();
    let text = bytes.map_err(|_| HttpProblem::bad("the address is not UTF-8"))?;
    if text.contains('\0') {
        return Err(HttpProblem::bad("the request contains a NUL"));
    }
    Ok(text.into_owned())
}

/// Reads a body to its end.
pub(crate) async fn received(body: Incoming) -> Result<Bytes, HttpProblem> {
    let too_long = || {
        let what = format!("the body is longer than {LONGEST_BODY} bytes");
        HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, what)
    };
    if body.size_hint().lower() > LONGEST_BODY as u64 {
        // A client that is still sending would not see the response, so part of the body is read
        // and dropped.
        let rest = Limited::new(body, MOST_DROPPED).collect();
        let _ = tokio::time::timeout(DROPPING, rest).await;
        return Err(too_long());
    }
    match tokio::time::timeout(BODY, Limited::new(body, LONGEST_BODY).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) => Err(HttpProblem::bad(format!("the body cannot be read: {error}"))),
        Err(_) => {
            let what = format!("the body did not arrive within {} s", BODY.as_secs());
            Err(HttpProblem::new(StatusCode::REQUEST_TIMEOUT, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_strictly() {
        let fields = Fields::read("a=1&b=x+y%26z&&c").unwrap();
        for (name, expected) in
            [("a", Some("1")), ("b", Some("x y&z")), ("c", Some("")), ("d", None)]
        {
            assert_eq!(fields.one(name).unwrap(), expected, "{name}");
        }
        assert!(fields.are_among(&["a", "b", "c"]).is_ok());
        assert!(fields.are_among(&["a", "b"]).is_err());
        for wrong in ["a=%ff", "a=%00", "%c3=1"] {
            assert!(Fields::read(wrong).is_err(), "{wrong}");
        }
        assert!(Fields::read("a=1&a=2").unwrap().one("a").is_err());
        assert_eq!(segments("/sessions/a%2Fb").unwrap(), ["sessions", "a/b"]);
        assert!(segments("/sessions/%80").is_err());
    }
}
