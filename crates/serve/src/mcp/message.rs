use std::fmt;

use counterfoil_guard::TraceContext;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::members::Members;

/// One JSON-RPC message, of which only the frame is read.
#[derive(Debug)]
pub(crate) struct Message<'m> {
    /// The members in their order.
    pub(crate) members: Members<'m>,
    /// The canonical text of its value, by which ids are compared: see [`id_of`].
    pub(crate) id: Option<String>,
    pub(crate) method: Option<String>,
}

/// The members of a message.
const FRAME: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Members of `params` that decide what a message does, by its method. What begins so is meant,
/// where a method ends with `/`.
const DECIDING: [(&str, &[&str]); 9] = [
    ("tools/call", &["name", "arguments", "_meta", "requestState", "inputResponses", "task"]),
    ("tools/list", &["cursor", "_meta"]),
    ("prompts/get", &["name", "arguments", "_meta"]),
    ("resources/", &["uri", "_meta"]),
    ("completion/complete", &["ref", "argument", "_meta"]),
    ("initialize", &["capabilities", "protocolVersion", "_meta"]),
    ("notifications/cancelled", &["requestId", "_meta"]),
    ("notifications/progress", &["progressToken", "_meta"]),
    ("tasks/", &["taskId", "_meta"]),
];

/// The most values in one message: each takes some hundred bytes while it is looked through.
const MOST_VALUES: usize = 1_000_000;

/// A shorter message has fewer.
const LONG: usize = 2 * MOST_VALUES;

/// How many values a JSON text holds, at most: each follows a bracket, a brace, a comma or a colon.
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

/// The greatest whole number that every reader keeps as it is.
const GREATEST_ID: i64 = (1 << 53) - 1;

/// An id by its value: its one canonical text as JSON, in which `"a"` and `"\u0061"` are the same.
/// `None` where it is neither a text nor a plain whole number: `5.0` and `5e0` are `5` for some
/// readers, and whole numbers beyond 2^53 are others for some.
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
    /// What is wrong with the text: it is no JSON, or readers would take it for different messages.
    pub(crate) fn read(text: &'m str) -> Result<Self, serde_json::Error> {
        if text.len() > LONG && values_in(text) > MOST_VALUES {
            return Err(wrong(format!("it has more than {MOST_VALUES} values")));
        }
        let members: Members<'m> = serde_json::from_str(text)?;
        if let Some(odd) = members.lookalike(&FRAME) {
            return Err(wrong(odd));
        }
        let said: Vec<&str> = ["method", "result", "error"]
            .into_iter()
            .filter(|n| members.get(n).is_some())
            .collect();
        match said.as_slice() {
            [_] => {}
            [] => return Err(wrong("it has none of `method`, `result` and `error`")),
            // Each reader would take it for something else.
            [one, other, ..] => {
                return Err(wrong(format!("it has both `{one}` and `{other}`")));
            }
        }
        let method: Option<String> =
            members.get("method").map(|raw| serde_json::from_str(raw.get())).transpose()?;
        let id = match members.get("id").map(RawValue::get) {
            None => None,
            // Of an error that belongs to no request.
            Some("null") if said == ["error"] => None,
            Some(id) => {
                let what = "the `id` is neither a text nor a plain whole number up to 2^53";
                Some(id_of(id).ok_or_else(|| wrong(what))?)
            }
        };
        Ok(Self { members, id, method })
    }

    /// What is wrong with the members that decide what it does.
    pub(crate) fn odd_params(&self) -> Option<String> {
        let method = self.method.as_deref()?;
        let same =
            |known: &str| method == known || known.ends_with('/') && method.starts_with(known);
        let (_, deciding) = DECIDING.iter().find(|(known, _)| same(known))?;
        let params = self.params().map(RawValue::get).filter(|raw| raw.starts_with('{'))?;
        match serde_json::from_str::<Members<'m>>(params) {
            Ok(params) => params.lookalike(deciding),
            Err(error) => Some(error.to_string()),
        }
    }

    pub(crate) fn params(&self) -> Option<&'m RawValue> {
        self.members.get("params")
    }

    /// Whether it stands alone: it says itself what a session says once.
    pub(crate) fn is_alone(&self) -> bool {
        let object = |raw: &'m RawValue| serde_json::from_str::<Members<'m>>(raw.get()).ok();
        let meta = self.params().and_then(object).and_then(|params| object(params.get("_meta")?));
        meta.is_some_and(|meta| [REVISION, CAPABILITIES].iter().all(|n| meta.get(n).is_some()))
    }

    /// The id of the request that nobody waits for any more, where it says that.
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

/// The member of `_meta` that names the trace to which a request belongs.
pub(crate) const TRACE: &str = "traceparent";

/// The trace to which a request with this `_meta` belongs.
pub(crate) fn traced(meta: Option<&RawValue>) -> Option<TraceContext> {
    let members: Members<'_> = serde_json::from_str(meta?.get()).ok()?;
    let text: String = serde_json::from_str(members.get(TRACE)?.get()).ok()?;
    TraceContext::parse(&text).ok()
}

/// Codes of JSON-RPC.
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
    /// A resource is not there, on the wire with sessions.
    pub(crate) const NO_RESOURCE: i32 = -32002;
    /// Headers say something else than the message.
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    /// The client cannot do what the server needs.
    pub(crate) const MISSING_CAPABILITY: i32 = -32021;
    /// The server does not speak this revision.
    pub(crate) const UNSUPPORTED_REVISION: i32 = -32022;
    /// Of servers: it went away.
    pub(crate) const SERVER_GONE: i32 = -32000;
}

/// The name under which the id of an execution stands in `_meta`.
pub(crate) const EXECUTION_ID: &str = "counterfoil/execution_id";

/// The name under which a request without a session says its revision of the protocol.
pub(crate) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// The name under which it says what its client can do.
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// An answer that is an error. `id` is JSON.
pub(crate) fn error(id: Option<&str>, code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.unwrap_or("null"))
}

/// The same with everything that an error can say.
pub(crate) fn error_with(id: &str, code: i64, message: &str, data: &Value) -> String {
    let mut error = json!({ "code": code, "message": message });
    if let (false, Some(members)) = (data.is_null(), error.as_object_mut()) {
        members.insert("data".to_owned(), data.clone());
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// An error about a server that is gone, for whoever has no request of its own open.
pub(crate) fn gone(why: &str) -> String {
    error(None, code::SERVER_GONE, why)
}

/// A request of ours. `id` is JSON.
pub(crate) fn request(id: &str, method: &str, params: &Value) -> String {
    request_raw(id, method, &params.to_string())
}

/// The same with params as they are written.
pub(crate) fn request_raw(id: &str, method: &str, params: &str) -> String {
    let method = Value::from(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

/// A notification of ours.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    let method = Value::from(method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// An answer with this result. `id` is JSON.
pub(crate) fn result(id: &str, result: &Value) -> String {
    result_raw(id, &result.to_string())
}

/// The same with a result as it is written.
pub(crate) fn result_raw(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The result of a call that failed or was not let through: the model reads it and corrects itself.
pub(crate) fn failed(text: &str, execution_id: Option<&str>) -> Value {
    let mut failed = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if let (Some(id), Some(members)) = (execution_id, failed.as_object_mut()) {
        members.insert("_meta".to_owned(), json!({ EXECUTION_ID: id }));
    }
    failed
}
