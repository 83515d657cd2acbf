use std::fmt;

use counterfoil_guard::TraceContext;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::members::Members;

/// A JSON-RPC message of which only the frame is parsed.
#[derive(Debug)]
pub(crate) struct Message<'m> {
    /// The members in order.
    pub(crate) members: Members<'m>,
    /// The canonical text of the id, for comparisons: see [`id_of`].
    pub(crate) id: Option<String>,
    pub(crate) method: Option<String>,
}

/// The members of a message.
const FRAME: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Members of the parameters of a call.
pub(super) const OF_CALLS: [&str; 6] =
    ["name", "arguments", "_meta", "requestState", "inputResponses", "task"];

/// Members inside members of `params` that determine what a message does.
const DECIDING_BELOW: [(&str, &str, &[&str]); 3] = [
    ("subscriptions/listen", "notifications", &["resourceSubscriptions"]),
    ("completion/complete", "ref", &["type", "uri", "name"]),
    ("completion/complete", "argument", &["name", "value"]),
];

/// Members of `params` that determine what a message does, by method. A name ending in `/` applies
/// to all methods that begin with it.
const DECIDING: [(&str, &[&str]); 10] = [
    ("tools/call", &OF_CALLS),
    ("subscriptions/", &["notifications", "_meta"]),
    ("tools/list", &["cursor", "_meta"]),
    ("prompts/get", &["name", "arguments", "_meta"]),
    ("resources/", &["uri", "_meta"]),
    ("completion/complete", &["ref", "argument", "_meta"]),
    ("initialize", &["capabilities", "protocolVersion", "_meta"]),
    ("notifications/cancelled", &["requestId", "_meta"]),
    ("notifications/progress", &["progressToken", "_meta"]),
    ("tasks/", &["taskId", "_meta"]),
];

/// Maximum number of values in a message; each takes about a hundred bytes while it is checked.
const MOST_VALUES: usize = 1_000_000;

/// A shorter message cannot have that many.
const LONG: usize = 2 * MOST_VALUES;

/// An upper bound on the number of values in a JSON text: each follows a bracket, a brace, a comma
/// or a colon.
fn values_in(text: &str) -> usize {
    let (mut count, mut in_text, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            b'"' if !escaped => in_text = !in_text,
            b'[' | b'{' | b',' | b':' if !in_text => count += 1,
            _ => {}
        }
        escaped = in_text && byte == b'\\' && !escaped;
    }
    count
}

/// The largest integer that every reader represents exactly.
const GREATEST_ID: i64 = (1 << 53) - 1;

/// The canonical JSON text of an id, in which `"a"` and `"\u0061"` are equal. `None` if it is
/// neither a string nor a plain integer: some readers treat `5.0` and `5e0` as `5`, and some lose
/// digits beyond 2^53.
pub(crate) fn id_of(raw: &str) -> Option<String> {
    if raw.starts_with('"') {
        return Some(Value::from(serde_json::from_str::<String>(raw).ok()?).to_string());
    }
    let plain = raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') && raw != "-0";
    let number: i64 = raw.parse().ok().filter(|_| plain)?;
    (number.abs() <= GREATEST_ID).then(|| number.to_string())
}

fn wrong(what: impl fmt::Display) -> serde_json::Error {
    serde::de::Error::custom(what)
}

impl<'m> Message<'m> {
    /// # Errors
    /// When the text is not JSON, or readers could take it for different messages.
    pub(crate) fn read(text: &'m str) -> Result<Self, serde_json::Error> {
        if text.len() > LONG && values_in(text) > MOST_VALUES {
            return Err(wrong(format!("the message has more than {MOST_VALUES} values")));
        }
        let members: Members<'m> = serde_json::from_str(text)?;
        if let Some(odd) = members.lookalike(&FRAME) {
            return Err(wrong(odd));
        }
        let kinds: Vec<&str> = ["method", "result", "error"]
            .into_iter()
            .filter(|n| members.get(n).is_some())
            .collect();
        match kinds.as_slice() {
            [_] => {}
            [] => return Err(wrong("the message has no `method`, `result` or `error`")),
            // Each reader would take it for something else.
            [one, other, ..] => {
                return Err(wrong(format!("the message has both `{one}` and `{other}`")));
            }
        }
        let method: Option<String> =
            members.get("method").map(|raw| serde_json::from_str(raw.get())).transpose()?;
        let id = match members.get("id").map(RawValue::get) {
            None => None,
            // An error that belongs to no request.
            Some("null") if kinds == ["error"] => None,
            Some(id) => {
                let what = "the `id` must be a string or a plain integer up to 2^53";
                Some(id_of(id).ok_or_else(|| wrong(what))?)
            }
        };
        Ok(Self { members, id, method })
    }

    /// What is wrong with the members that determine what the message does.
    pub(crate) fn odd_params(&self) -> Option<String> {
        let method = self.method.as_deref()?;
        let same =
            |known: &str| method == known || known.ends_with('/') && method.starts_with(known);
        let (_, deciding) = DECIDING.iter().find(|(known, _)| same(known))?;
        let params = self.params().map(RawValue::get).filter(|raw| raw.starts_with('{'))?;
        match serde_json::from_str::<Members<'m>>(params) {
            Ok(params) => params.lookalike(deciding).or_else(|| {
                let mut below = DECIDING_BELOW.iter().filter(|(known, ..)| *known == method);
                below.find_map(|(_, member, deciding)| {
                    let below = params.get(member).map(RawValue::get)?;
                    match serde_json::from_str::<Members<'m>>(below) {
                        Ok(members) => members.lookalike(deciding),
                        Err(error) => below.starts_with('{').then(|| error.to_string()),
                    }
                })
            }),
            Err(error) => Some(error.to_string()),
        }
    }

    pub(crate) fn params(&self) -> Option<&'m RawValue> {
        self.members.get("params")
    }

    /// Whether it is a request without a session, which carries the session's metadata itself.
    pub(crate) fn is_alone(&self) -> bool {
        let object = |raw: &'m RawValue| serde_json::from_str::<Members<'m>>(raw.get()).ok();
        let meta = self.params().and_then(object).and_then(|params| object(params.get("_meta")?));
        meta.is_some_and(|meta| [REVISION, CAPABILITIES].iter().all(|n| meta.get(n).is_some()))
    }

    /// The id of the request that this message cancels, if it is a cancellation.
    pub(crate) fn cancels(&self) -> Option<String> {
        if self.method.as_deref() != Some("notifications/cancelled") {
            return None;
        }
        let params: Members<'m> = serde_json::from_str(self.params()?.get()).ok()?;
        id_of(params.get("requestId")?.get())
    }
}

/// The messages of a line: one, or those of a batch.
///
/// # Errors
/// When a batch is not JSON.
pub(crate) fn parts(line: &str) -> Result<Vec<&str>, serde_json::Error> {
    if !line.trim_start().starts_with('[') {
        return Ok(vec![line]);
    }
    let batch: Vec<&RawValue> = serde_json::from_str(line)?;
    Ok(batch.into_iter().map(RawValue::get).collect())
}

/// The member of `_meta` with the trace context of a request.
pub(crate) const TRACE: &str = "traceparent";

/// The trace context in this `_meta`.
pub(crate) fn traced(meta: Option<&RawValue>) -> Option<TraceContext> {
    let members: Members<'_> = serde_json::from_str(meta?.get()).ok()?;
    let text: String = serde_json::from_str(members.get(TRACE)?.get()).ok()?;
    TraceContext::parse(&text).ok()
}

/// JSON-RPC error codes.
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
    /// A resource does not exist, in the protocol with sessions.
    pub(crate) const NO_RESOURCE: i32 = -32002;
    /// The headers contradict the message.
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    /// The client lacks a capability that the server needs.
    pub(crate) const MISSING_CAPABILITY: i32 = -32021;
    /// The server does not support this revision.
    pub(crate) const UNSUPPORTED_REVISION: i32 = -32022;
    /// The server is gone.
    pub(crate) const SERVER_GONE: i32 = -32000;
}

/// The member of `_meta` with the id of an execution.
pub(crate) const EXECUTION_ID: &str = "counterfoil/execution_id";

/// The member of `_meta` with the protocol revision of a request without a session.
pub(crate) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of `_meta` with the client's capabilities.
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// An error response. `id` is JSON.
pub(crate) fn error(id: Option<&str>, code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.unwrap_or("null"))
}

/// An error response with additional data.
pub(crate) fn error_with(id: &str, code: i64, message: &str, data: &Value) -> String {
    let mut error = json!({ "code": code, "message": message });
    if let (false, Some(members)) = (data.is_null(), error.as_object_mut()) {
        members.insert("data".to_owned(), data.clone());
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// An error about a server that is gone, for clients without an open request.
pub(crate) fn gone(why: &str) -> String {
    error(None, code::SERVER_GONE, why)
}

/// A request. `id` is JSON.
pub(crate) fn request(id: &str, method: &str, params: &Value) -> String {
    request_raw(id, method, &params.to_string())
}

/// A request with verbatim parameters.
pub(crate) fn request_raw(id: &str, method: &str, params: &str) -> String {
    let method = Value::from(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

/// A notification.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    let method = Value::from(method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// A response with this result. `id` is JSON.
pub(crate) fn result(id: &str, result: &Value) -> String {
    result_raw(id, &result.to_string())
}

/// A response with a verbatim result.
pub(crate) fn result_raw(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The result of a call that failed or was not allowed, written for the model.
pub(crate) fn failed(text: &str, execution_id: Option<&str>) -> Value {
    let mut failed = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if let (Some(id), Some(members)) = (execution_id, failed.as_object_mut()) {
        members.insert("_meta".to_owned(), json!({ EXECUTION_ID: id }));
    }
    failed
}
