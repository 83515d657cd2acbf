//! Merges the answers of several servers into one.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::request::ParsedRequest;
use crate::client::ALONE;
use crate::mcp::{GREETINGS, Members, SERVER_INFO, UNREACHABLE, agreed, joined_instructions};

/// The lists that servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The member of a result that contains the list.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The notification for clients that the list has changed.
    pub(super) fn changed(self) -> String {
        let what = self.capability();
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/{what}/list_changed"}}"#)
    }

    /// Whether requests refer to its entries by name.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Tools | Self::Prompts)
    }
}

/// Our greeting with the combined capabilities of all servers: the answer to `initialize` if a
/// revision is `wanted`, else to `server/discover`. Names the servers that are `away`, and, for the
/// gateway, what each of the others said, unless it is the only one.
pub(super) fn greeting(
    wanted: Option<&str>,
    servers: &[(String, Value)],
    away: &[String],
    prefixed: bool,
) -> String {
    let mut capabilities = Map::new();
    let mut parts = Map::new();
    for (name, answer) in servers {
        let able = answer.get("capabilities").and_then(Value::as_object);
        let mut able = able.cloned().unwrap_or_default();
        able.retain(|name, _| SPOKEN.contains(&name.as_str()));
        for (capability, details) in &able {
            let known = capabilities.entry(capability.clone()).or_insert_with(|| json!({}));
            if let (Some(known), Some(details)) = (known.as_object_mut(), details.as_object()) {
                known.extend(details.clone());
            }
        }
        let instructions = answer.get("instructions").filter(|text| text.is_string());
        let part = json!({ "instructions": instructions, "capabilities": able });
        parts.insert(name.clone(), part);
    }
    let instructions = joined_instructions(&parts, |_| true);
    // A server that answers later has tools, too.
    if !away.is_empty()
        && let Value::Object(tools) = capabilities.entry("tools").or_insert_with(|| json!({}))
    {
        tools.insert("listChanged".to_owned(), json!(true));
    }
    let who = json!({ "name": "counterfoil", "version": env!("CARGO_PKG_VERSION") });
    let mut result = json!({ "capabilities": capabilities });
    let Some(members) = result.as_object_mut() else { return result.to_string() };
    if let Some(instructions) = instructions {
        members.insert("instructions".to_owned(), instructions.into());
    }
    let mut meta = Map::new();
    if prefixed {
        meta.insert(GREETINGS.to_owned(), parts.into());
    }
    if !away.is_empty() {
        meta.insert(UNREACHABLE.to_owned(), json!(away));
    }
    match wanted {
        Some(wanted) => {
            members.insert("protocolVersion".to_owned(), agreed(Some(wanted)).into());
            members.insert("serverInfo".to_owned(), who);
        }
        None => {
            members.insert("supportedVersions".to_owned(), json!([ALONE]));
            meta.insert(SERVER_INFO.to_owned(), who);
        }
    }
    if !meta.is_empty() {
        members.insert("_meta".to_owned(), meta.into());
    }
    result.to_string()
}

/// Capabilities of servers that are passed on.
const SPOKEN: [&str; 5] = ["tools", "prompts", "resources", "completions", "logging"];

/// Results that a client without a session may cache, which must state for how long.
const KEPT: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// A result in the format of the client's protocol revision.
pub(super) fn finished(request: &ParsedRequest, result: &str) -> String {
    if !request.alone {
        return result.to_owned();
    }
    let wanted = [("resultType", "\"complete\""), ("ttlMs", "0"), ("cacheScope", "\"private\"")];
    let count = if KEPT.contains(&request.method.as_str()) { 3 } else { 1 };
    let mut text = result.to_owned();
    for (name, value) in wanted.into_iter().take(count) {
        let Ok(members) = serde_json::from_str::<Members<'_>>(&text) else { return text };
        if members.get(name).map(RawValue::get).is_none() {
            text = members.with(name, value);
        }
    }
    text
}
