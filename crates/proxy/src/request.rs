//! Reads what has to be known about a request before it is passed on.

use std::collections::BTreeMap;
use std::fmt;

use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::wire::Wire;

/// Headers in which clients name their session.
const NAMED: [&str; 3] = ["x-counterfoil-session", "session_id", "x-session-id"];

/// Members of `metadata` in which clients name their session.
const IN_METADATA: [&str; 4] = ["session_id", "sessionId", "conversation_id", "thread_id"];

/// The maximum length of a session name, in bytes.
const LONGEST_NAME: usize = 200;

/// Some clients begin a text with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Prefixes of the kinds of tools that a client runs. The server runs all other tools in a request.
const OF_CLIENT: [&str; 10] = [
    "function",
    "custom",
    "local_shell",
    "shell",
    "computer",
    "apply_patch",
    "bash_",
    "text_editor_",
    "memory_",
    "namespace",
];

/// A request to a model for an answer.
#[derive(Debug, Clone)]
pub(crate) struct ModelRequest {
    pub(crate) wire: Wire,
    /// The body as the client sent it.
    pub(crate) body: Bytes,
    pub(crate) model: String,
    /// Whether the answer is streamed.
    pub(crate) streams: bool,
    /// Whether the answer must have a given format.
    pub(crate) structured: bool,
    /// Whether it is answered in the background.
    pub(crate) background: bool,
    /// The user of the client.
    pub(crate) user: String,
    /// The number of requested answers.
    pub(crate) choices: u64,
    /// The session that the client names.
    pub(crate) session: Option<String>,
    /// The earlier response that it continues from, which the server keeps.
    pub(crate) previous: Option<String>,
    /// The conversation that it continues, which the server keeps.
    pub(crate) conversation: Option<String>,
    /// The raw JSON of the tools.
    pub(crate) tools: Option<Bytes>,
    /// Whether it names tool servers, or a prompt that may do so.
    pub(crate) has_servers: bool,
}

/// The members of a request. Each may occur only once.
struct Members<'b>(BTreeMap<String, &'b RawValue>);

impl<'de: 'b, 'b> Deserialize<'de> for Members<'b> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = BTreeMap<String, &'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if members.insert(name, value).is_some() {
                        return Err(de::Error::custom("duplicate member"));
                    }
                }
                Ok(members)
            }
        }
        reader.deserialize_map(Once).map(Self)
    }
}

impl ModelRequest {
    /// Parses a request; `None` if it is not a request of its wire.
    pub(crate) fn read(wire: Wire, headers: &HeaderMap, body: Bytes) -> Option<Self> {
        if !is_utf8(headers) {
            return None;
        }
        let body = match body.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => body.slice_ref(rest),
            None => body,
        };
        let Members(members) = serde_json::from_slice(&body).ok()?;
        let value =
            |name: &str| -> Option<Value> { serde_json::from_str(members.get(name)?.get()).ok() };
        let text = |name: &str| value(name)?.as_str().map(str::to_owned);
        let tools = members.get("tools").map(|raw| raw.get());
        let tools = tools.filter(|raw| raw.starts_with('['));
        let previous = text("previous_response_id");
        let conversation = value("conversation").and_then(|named| match named {
            Value::String(name) => Some(name),
            named => named.get("id").and_then(Value::as_str).map(str::to_owned),
        });
        let session = in_headers(headers)
            .or_else(|| in_metadata(&value("metadata")?))
            .or_else(|| conversation.clone())
            .filter(|name| is_name(name));
        Some(Self {
            wire,
            model: text("model").unwrap_or_default(),
            streams: value("stream") == Some(Value::Bool(true)),
            structured: is_structured(wire, &value),
            background: value("background") == Some(Value::Bool(true)),
            user: user(&value),
            has_servers: ["mcp_servers", "prompt"].iter().any(|name| {
                value(name).is_some_and(|value| {
                    !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
                })
            }),
            choices: value("n").and_then(|n| n.as_u64()).unwrap_or(1),
            session,
            previous,
            conversation,
            tools: tools.map(|raw| body.slice_ref(raw.as_bytes())),
            body,
        })
    }

    /// Replaces its tools. Returns the new body.
    pub(crate) fn replace_tools(&mut self, tools: &[u8]) -> Option<Bytes> {
        let own = self.tools.as_ref()?;
        let start = own.as_ptr().addr().checked_sub(self.body.as_ptr().addr())?;
        let (before, after) = (self.body.get(..start)?, self.body.get(start + own.len()..)?);
        let body = Bytes::from([before, tools, after].concat());
        self.tools = Some(body.slice(start..start + tools.len()));
        self.body = body.clone();
        Some(body)
    }

    /// Whether the server itself runs tools for this request.
    pub(crate) fn server_runs_tools(&self) -> bool {
        let entries: Option<Vec<Value>> =
            self.tools.as_ref().and_then(|tools| serde_json::from_slice(tools).ok());
        let kinds = entries.iter().flatten().filter_map(|tool| tool.get("type")?.as_str());
        let mut own = kinds.filter(|kind| !OF_CLIENT.iter().any(|begin| kind.starts_with(begin)));
        own.next().is_some() || self.has_servers
    }

    /// The members of the request, so that it can be sent again in other words.
    pub(crate) fn members(&self) -> Option<Map<String, Value>> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Whether a body is UTF-8 text according to its headers.
pub(crate) fn is_utf8(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or("charset="));
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    let charset = kind.split_once("charset=").map(|(_, charset)| charset);
    charset.is_none_or(|charset| {
        let charset = charset.split(';').next().unwrap_or_default();
        ["utf-8", "utf8", "us-ascii"].contains(&charset.trim().trim_matches('"'))
    })
}

fn in_headers(headers: &HeaderMap) -> Option<String> {
    let text = |name: &&str| headers.get(*name)?.to_str().ok();
    NAMED.iter().find_map(text).map(str::to_owned)
}

fn in_metadata(metadata: &Value) -> Option<String> {
    let text = |value: &Value, name: &&str| value.get(*name)?.as_str().map(str::to_owned);
    if let Some(name) = IN_METADATA.iter().find_map(|name| text(metadata, name)) {
        return Some(name);
    }
    // One client puts it into the user's name, as JSON or after a word.
    let user = text(metadata, &"user_id")?;
    let inner: Option<Value> = serde_json::from_str(&user).ok();
    let inner = inner.and_then(|inner| IN_METADATA.iter().find_map(|name| text(&inner, name)));
    inner.or_else(|| user.rsplit_once("_session_").map(|(_, session)| session.to_owned()))
}

/// The client's user, as the client names them.
fn user(value: &dyn Fn(&str) -> Option<Value>) -> String {
    let named = ["user", "safety_identifier"].iter().find_map(|name| value(name));
    let named = named.or_else(|| value("metadata")?.get("user_id").cloned());
    named.and_then(|named| named.as_str().map(str::to_owned)).unwrap_or_default()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control)
}

fn is_structured(wire: Wire, value: &dyn Fn(&str) -> Option<Value>) -> bool {
    let kind = |value: Value, path: &str| value.pointer(path).and_then(Value::as_str).map(is_form);
    match wire {
        Wire::Chat => value("response_format").and_then(|format| kind(format, "/type")),
        Wire::Responses => value("text").and_then(|text| kind(text, "/format/type")),
        Wire::Messages => value("output_format")
            .map(|format| !format.is_null())
            .or_else(|| value("output_config").map(|config| config.get("format").is_some())),
    }
    .unwrap_or(false)
}

fn is_form(kind: &str) -> bool {
    kind != "text"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn model_request(wire: Wire, body: &Value) -> ModelRequest {
        ModelRequest::read(wire, &HeaderMap::new(), Bytes::from(body.to_string())).unwrap()
    }

    #[test]
    fn sessions_are_named_in_many_ways() {
        for (body, expected) in [
            (json!({ "metadata": { "session_id": "a" } }), Some("a")),
            (json!({ "metadata": { "user_id": "user_1_account__session_b" } }), Some("b")),
            (json!({ "metadata": { "user_id": "{\"session_id\":\"c\"}" } }), Some("c")),
            (json!({ "metadata": { "user_id": "mia" } }), None),
            (json!({ "conversation": { "id": "d" } }), Some("d")),
            (json!({ "conversation": "e" }), Some("e")),
            (json!({ "user": "mia", "prompt_cache_key": "all" }), None),
            (json!({ "metadata": { "session_id": "two\nlines" } }), None),
        ] {
            assert_eq!(model_request(Wire::Messages, &body).session.as_deref(), expected, "{body}");
        }
        let headers = HeaderMap::from_iter([("session_id".parse().unwrap(), "f".parse().unwrap())]);
        let request = ModelRequest::read(Wire::Chat, &headers, Bytes::from_static(b"{}")).unwrap();
        assert_eq!(request.session.as_deref(), Some("f"));
    }

    #[test]
    fn an_answer_in_a_form_is_known() {
        for (wire, body, expected) in [
            (Wire::Chat, json!({ "response_format": { "type": "json_schema" } }), true),
            (Wire::Chat, json!({ "response_format": { "type": "text" } }), false),
            (Wire::Chat, json!({}), false),
            (Wire::Responses, json!({ "text": { "format": { "type": "json_object" } } }), true),
            (Wire::Responses, json!({ "text": { "verbosity": "low" } }), false),
            (Wire::Messages, json!({ "output_format": { "type": "json_schema" } }), true),
            (Wire::Messages, json!({ "output_config": { "effort": "low" } }), false),
            (Wire::Messages, json!({ "output_config": { "format": {} } }), true),
        ] {
            assert_eq!(model_request(wire, &body).structured, expected, "{body}");
        }
    }

    #[test]
    fn only_the_tools_change() {
        let body = "{ \"model\":\"m\",\"tools\": [ 1,2 ] , \"stream\" :true}";
        let mut request =
            ModelRequest::read(Wire::Chat, &HeaderMap::new(), Bytes::from_static(body.as_bytes()))
                .unwrap();
        assert!(request.streams);
        let changed = request.replace_tools(b"[3]").unwrap();
        assert_eq!(request.tools.as_deref(), Some(&b"[3]"[..]));
        assert_eq!(changed, "{ \"model\":\"m\",\"tools\": [3] , \"stream\" :true}");
        for body in ["[]", "x", "{\"a\":}", ""] {
            let bytes = Bytes::copy_from_slice(body.as_bytes());
            assert!(ModelRequest::read(Wire::Chat, &HeaderMap::new(), bytes).is_none(), "{body}");
        }
    }
}
