//! The message that the server receives for a call, and the gating of resources.

use counterfoil_admission::writings;
use counterfoil_guard::{Asking, Before, HostedCall, Judged, Surroundings};
use counterfoil_model::{Arguments, Origin, ToolCall};
use serde::de::Error as _;
use serde_json::{Error, Value, json};

use super::gateway::{Gateway, denied, readable_member};
use super::members::{Members, written};
use super::message::{Message, OF_CALLS};

impl Gateway {
    /// Why a resource may not be read, watched or completed. Path rules also apply to file URIs: the
    /// request is judged like a call of a tool named after the method.
    pub(super) async fn resource_denied(
        &self,
        method: &str,
        message: &Message<'_>,
    ) -> Option<String> {
        let arguments = match resources_of(method, message) {
            Ok(arguments) => arguments?,
            // A server may read what is not read here.
            Err(error) => return Some(format!("`params` cannot be read: {error}")),
        };
        if let Some(why) = self.resource_held(&arguments) {
            return Some(why);
        }
        let call = ToolCall {
            id: String::new(),
            tool: method.to_owned(),
            arguments: Arguments::from(&arguments),
            line: 0,
        };
        let origin = Origin::Mcp { server: self.server.as_ref().to_owned() };
        let hosted = HostedCall::of_unknown(call, origin);
        let around = Surroundings::default();
        match self.session.before(&hosted, &around, Asking::Person).await {
            Ok(Before { judged: Judged::Denied(reasons), .. }) => Some(denied(&reasons)),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    /// A call of which no list says what its tool is called. A server may take another writing of the
    /// name, as it is taken once the list is known: where one of them never runs, the call is judged by
    /// that one.
    pub(super) fn by_its_denied_name(&self, call: ToolCall) -> ToolCall {
        if self.guard.never_runs(&call.tool).is_some() {
            return call;
        }
        // Where nothing runs that no rule allows, other writings are not denied by their names.
        let unnamed = self.guard.never_runs("");
        let is_denied = |name: &String| {
            let why = self.guard.never_runs(name);
            why.is_some() && why != unnamed
        };
        let denied = writings(&call.tool).find(is_denied);
        match denied {
            Some(tool) => ToolCall { tool, ..call },
            None => call,
        }
    }
}

/// The resources that a request names, as arguments of a call; `None` if it names none.
///
/// # Errors
/// When the members that may name them cannot be read.
fn resources_of(method: &str, message: &Message<'_>) -> serde_json::Result<Option<Value>> {
    let inner = |value: Value, name: &str| match value {
        Value::Object(mut members) => Ok(members.remove(name).unwrap_or_default()),
        Value::Null => Ok(Value::Null),
        other => Err(Error::custom(format!("`{other}` is not an object"))),
    };
    let named = |name: &str| match message.params() {
        Some(params) => readable_member(params, name).map(Option::unwrap_or_default),
        None => Ok(Value::Null),
    };
    Ok(match method {
        "resources/read" | "resources/subscribe" => Some(json!({ "uri": named("uri")? })),
        "subscriptions/listen" => {
            let uris = inner(named("notifications")?, "resourceSubscriptions")?;
            (!uris.is_null()).then(|| json!({ "uris": uris }))
        }
        "completion/complete" => {
            let template = inner(named("ref")?, "uri")?;
            if template.is_null() {
                return Ok(None);
            }
            let argument = named("argument")?;
            let of = |name: &str| argument.get(name).and_then(Value::as_str).unwrap_or_default();
            let filled = ["", "+", "/"]
                .into_iter()
                .fold(template.as_str().unwrap_or_default().to_owned(), |filled, sign| {
                    filled.replace(&format!("{{{sign}{}}}", of("name")), of("value"))
                });
            Some(json!({ "uri": template, "filled": filled, "value": of("value") }))
        }
        _ => None,
    })
}

/// The message of a call for the server: the client's own bytes if they express exactly this call.
pub(super) fn message_as_meant(
    hosted: &HostedCall,
    message: &Message<'_>,
    params: &Members<'_>,
    text: &str,
) -> String {
    match as_meant(hosted, params) {
        Some(params) => message.members.with("params", &params),
        None => text.trim().to_owned(),
    }
}

/// The parameters with the resolved tool and arguments, and without members that no call has, which
/// no gate has seen; `None` if the client wrote exactly these.
fn as_meant(hosted: &HostedCall, params: &Members<'_>) -> Option<String> {
    let known = |name: &str| OF_CALLS.contains(&name);
    if !params.0.iter().all(|(name, _)| known(name)) {
        let left = params.0.iter().filter(|(name, _)| known(name));
        let left = written(left.map(|(name, raw)| (name.as_str(), raw.get())));
        let members: Members<'_> = serde_json::from_str(&left).ok()?;
        return Some(as_meant(hosted, &members).unwrap_or(left));
    }
    let HostedCall { call, tool, arguments } = hosted;
    let written = params.get("arguments").map_or("{}", |raw| raw.get());
    let same = Arguments::raw(written).exact().is_ok_and(|written| written == *arguments);
    if same && call.tool == tool.name {
        return None;
    }
    let named = params.with("name", &Value::from(&*tool.name).to_string());
    if same {
        return Some(named);
    }
    let named: Members<'_> = serde_json::from_str(&named).ok()?;
    Some(named.with("arguments", &arguments.to_string()))
}
