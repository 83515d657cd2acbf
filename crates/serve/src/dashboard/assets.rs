//! Styles and scripts, which are part of the program.

use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use counterfoil_model::Digest;

use super::problem::HttpProblem;
use crate::http::{Answer, answer};

/// A file for browsers.
struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

static ASSETS: [Asset; 5] = [
    Asset { name: "page.css", kind: STYLE, bytes: include_bytes!("../../assets/page.css") },
    Asset { name: "page.js", kind: SCRIPT, bytes: include_bytes!("../../assets/page.js") },
    Asset {
        name: "mark.svg",
        kind: "image/svg+xml",
        bytes: include_bytes!("../../assets/mark.svg"),
    },
    Asset { name: "uplot.css", kind: STYLE, bytes: include_bytes!("../../assets/uplot.min.css") },
    Asset { name: "uplot.js", kind: SCRIPT, bytes: include_bytes!("../../assets/uplot.min.js") },
];

/// Addresses depend on the content, so a new version's files never match cached old ones.
const CACHED: &str = "public, max-age=31536000, immutable";

/// The address of a file, which changes with its content.
pub(super) fn address(name: &str) -> String {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let tag = found.map(|asset| tag(asset.bytes)).unwrap_or_default();
    format!("/assets/{name}?v={tag}")
}

fn tag(bytes: &[u8]) -> String {
    Digest::of_bytes(bytes).to_string().chars().take(16).collect()
}

/// Serves a file, or the status that the browser's copy is current.
pub(super) fn asset(head: &Parts, name: &str) -> Result<Answer, HttpProblem> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(HttpProblem::method(vec![Method::GET]));
    }
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let asset = asset.ok_or_else(|| HttpProblem::missing("there is no such file"))?;
    let tag = format!("\"{}\"", tag(asset.bytes));
    let has = head.headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = match has.is_some_and(|has| has.split(',').any(|one| one.trim() == tag)) {
        true => answer(StatusCode::NOT_MODIFIED, asset.kind, ""),
        false => answer(StatusCode::OK, asset.kind, asset.bytes),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHED));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
