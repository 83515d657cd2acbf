//! The message that the server receives for a call.

use counterfoil_guard::HostedCall;
use counterfoil_model::Arguments;
use serde_json::Value;

use super::members::{Members, written};
use super::message::{Message, OF_CALLS};

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
    let HostedCall { call, tool, arguments, .. } = hosted;
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
