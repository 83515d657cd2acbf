//! The gating of resources.

use counterfoil_guard::{Asking, Before, HostedCall, Judged, Surroundings};
use counterfoil_model::{Arguments, Origin, ToolCall};
use serde::de::Error as _;
use serde_json::{Error, Value, json};

use super::failures::denied;
use super::gateway::Gateway;
use super::members::readable_member;
use super::message::Message;

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
        match self.session.before(&hosted, &around, Asking::Unattended).await {
            Ok(Before { judged: Judged::Denied(reasons), .. }) => Some(denied(&reasons)),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
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
