//! HTTP headers for messages whose author did not write them for HTTP.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::ExactValue;
use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::mcp::{Members, Message, REVISION};

/// The parts of a message that are repeated in headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestHeaders {
    /// The negotiated revision, in a session.
    pub(crate) revision: Option<String>,
}

impl RequestHeaders {
    /// The headers of a message. `schema` is the schema of the tool that it calls.
    pub(crate) fn headers(&self, message: &Message<'_>, schema: Option<&Value>) -> HeaderMap {
        let mut headers = self.listening();
        for (name, value) in repeated(message, schema) {
            if let (Ok(name), Some(value)) = (HeaderName::try_from(name), encoded(&value)) {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// The headers of a request that only listens.
    pub(crate) fn listening(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, both);
        if let Some(value) = self.revision.as_deref().and_then(encoded) {
            headers.insert(HeaderName::from_static("mcp-protocol-version"), value);
        }
        headers
    }
}

/// Names and values of the headers that must repeat parts of a message without a session.
fn repeated(message: &Message<'_>, schema: Option<&Value>) -> Vec<(String, String)> {
    let params = message.params().and_then(|raw| object(raw.get()));
    let meta = params.as_ref().and_then(|params| object(params.get("_meta")?.get()));
    let revision = meta.and_then(|meta| text(meta.get(REVISION)?));
    let (Some(revision), Some(params)) = (revision, params) else { return Vec::new() };
    let method = message.method.clone().unwrap_or_default();
    let named = match method.as_str() {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    };
    let named = named.and_then(|member| params.get(member)).and_then(text);
    let arguments = params.get("arguments").map(RawValue::get);
    let arguments: ExactValue =
        arguments.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut all =
        vec![("mcp-protocol-version".to_owned(), revision), ("mcp-method".to_owned(), method)];
    all.extend(named.map(|name| ("mcp-name".to_owned(), name)));
    let wanted = schema.iter().flat_map(|schema| header_arguments(schema, &arguments));
    all.extend(wanted.map(|(name, value)| (format!("mcp-param-{}", name.to_lowercase()), value)));
    all
}

/// Why the headers of a message without a session contradict it, if they do.
pub(crate) fn differs(
    message: &Message<'_>,
    schema: Option<&Value>,
    headers: &HeaderMap,
) -> Option<String> {
    for (name, expected) in repeated(message, schema) {
        let mut all = headers.get_all(&name).iter();
        let given = all.next().and_then(|value| decoded(value.to_str().ok()?));
        if all.next().is_some() {
            return Some(format!("the header `{name}` appears more than once"));
        }
        match given {
            None => return Some(format!("the header `{name}` is missing or cannot be read")),
            Some(given) if given != expected => {
                return Some(format!("the header `{name}` does not match the message"));
            }
            Some(_) => {}
        }
    }
    None
}

/// Decodes a header value.
fn decoded(value: &str) -> Option<String> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match inner {
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// The arguments that a tool wants in headers, by header name.
fn header_arguments(schema: &Value, arguments: &ExactValue) -> Vec<(String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut all = Vec::new();
    for (name, property) in properties {
        let Some(argument) = arguments.member(name) else { continue };
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            let value = match argument.value() {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => argument.to_string(),
                _ => continue,
            };
            all.push((header.to_owned(), value));
        }
        all.extend(header_arguments(property, &argument));
    }
    all
}

/// What is wrong with the headers that a schema requests: they are ambiguous or cannot be written.
pub(crate) fn wrong_headers(schema: &Value) -> Option<String> {
    wrong_in(schema, &mut BTreeSet::new())
}

fn wrong_in(schema: &Value, seen: &mut BTreeSet<String>) -> Option<String> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties {
        if let Some(header) = property.get("x-mcp-header") {
            let header = header.as_str().unwrap_or_default();
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            if HeaderName::try_from(header).is_err() {
                return Some(format!(
                    "the argument `{name}` has an `x-mcp-header` that is not a valid header name"
                ));
            }
            if !["string", "integer", "boolean"].contains(&kind) {
                return Some(format!(
                    "the argument `{name}` has a type that cannot be sent in a header"
                ));
            }
            if !seen.insert(header.to_lowercase()) {
                return Some(format!("two arguments use the same header `{header}`"));
            }
        }
        if let Some(wrong) = wrong_in(property, seen) {
            return Some(wrong);
        }
    }
    None
}

/// Encodes a value for a header.
fn encoded(value: &str) -> Option<HeaderValue> {
    let plain = value.trim() == value
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !value.starts_with("=?base64?");
    match plain {
        true => HeaderValue::from_str(value).ok(),
        false => {
            let text = format!("=?base64?{}?=", STANDARD.encode(value));
            HeaderValue::from_str(&text).ok()
        }
    }
}

fn object(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(speech: &RequestHeaders, message: &Value, schema: Option<&Value>) -> Vec<String> {
        let text = message.to_string();
        let message = Message::read(&text).unwrap();
        let headers = speech.headers(&message, schema);
        let row = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", value.to_str().unwrap())
        };
        headers.iter().filter(|(name, _)| name.as_str() != "accept").map(row).collect()
    }

    #[test]
    fn without_sessions_a_message_says_in_headers_what_it_is() {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "größe", "arguments": { "region": "eu", "n": 3, "list": [1], "in": { "x": " a" } },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } });
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "n": { "type": "integer", "x-mcp-header": "N" },
            "missing": { "type": "string", "x-mcp-header": "Missing" },
            "list": { "type": "array", "x-mcp-header": "List" },
            "in": { "properties": { "x": { "type": "string", "x-mcp-header": "X" } } } } });
        let found = headers(&RequestHeaders::default(), &call, Some(&schema));
        assert_eq!(
            found,
            [
                "mcp-protocol-version: 2026-07-28",
                "mcp-method: tools/call",
                "mcp-name: =?base64?Z3LDtsOfZQ==?=",
                "mcp-param-region: eu",
                "mcp-param-n: 3",
                "mcp-param-x: =?base64?IGE=?=",
            ]
        );
    }

    #[test]
    fn headers_that_say_something_else_are_found() {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "größe", "arguments": { "region": "eu" },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } });
        let schema = json!({ "properties": { "region": { "x-mcp-header": "Region" } } });
        let text = call.to_string();
        let message = Message::read(&text).unwrap();
        let right = RequestHeaders::default().headers(&message, Some(&schema));
        assert_eq!(differs(&message, Some(&schema), &right), None);
        for (name, value) in [
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-method", "tools/list"),
            ("mcp-name", "=?base64?broken?="),
            ("mcp-name", "other"),
            ("mcp-param-region", "us"),
        ] {
            let mut wrong = right.clone();
            wrong.insert(name, HeaderValue::from_static(value));
            assert!(differs(&message, Some(&schema), &wrong).is_some(), "{name}: {value}");
            wrong.remove(name);
            assert!(differs(&message, Some(&schema), &wrong).is_some(), "{name} is missing");
        }
    }

    #[test]
    fn in_a_session_a_message_says_its_revision() {
        let speech = RequestHeaders { revision: Some("2025-11-25".to_owned()) };
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        assert_eq!(headers(&speech, &ping, None), ["mcp-protocol-version: 2025-11-25"]);
        assert!(headers(&RequestHeaders::default(), &ping, None).is_empty());
    }
}
