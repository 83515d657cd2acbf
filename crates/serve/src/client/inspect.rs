use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Client, ClientError, ClientOptions};
use crate::mcp::{SERVER_INFO, unreachable};
use crate::upstream::Server;

/// What a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The server's name and version, if given.
    pub server: Option<(String, String)>,
    /// The revision of the protocol.
    pub revision: Option<String>,
    /// The whole greeting: the result of `initialize` or `server/discover`.
    pub greeting: Value,
    /// The server's instructions for the model.
    pub instructions: Option<String>,
    /// The tools as listed by the server.
    pub tools: Vec<Value>,
    /// Of several servers, the names of those that cannot be reached.
    pub unreachable: Vec<String>,
}

/// Connects to a server, reads what it offers, and disconnects.
///
/// # Errors
/// When the server does not answer in time.
pub async fn inspect(server: &Server, options: &ClientOptions) -> Result<Offer, ClientError> {
    let client = match server {
        // One that takes longer is left out before the whole takes too long.
        Server::Several(servers) => {
            let servers = servers.waiting(options.limit.mul_f32(0.9));
            Client::connect(&Server::Several(servers), options).await?
        }
        server => Client::connect(server, options).await?,
    };
    let listed = match server {
        // On one page, with the names of servers that are left out.
        Server::Several(_) => client.request("tools/list", json!({})).await,
        _ => client.tools().await.map(|tools| json!({ "tools": tools })),
    };
    client.close().await;
    let greeting = client.greeting();
    let server_info = greeting
        .get("serverInfo")
        .or_else(|| greeting.get("_meta").and_then(|meta| meta.get(SERVER_INFO)));
    let text = |member: &str| {
        server_info.and_then(|server_info| server_info.get(member)?.as_str().map(str::to_owned))
    };
    let names_itself = text("name").map(|name| (name, text("version").unwrap_or_default()));
    let instructions = greeting.get("instructions").and_then(Value::as_str).map(str::to_owned);
    let revision = client.revision().map(str::to_owned);
    let mut listed = listed?;
    let mut away = BTreeSet::new();
    if let Server::Several(_) = server {
        away.extend(unreachable(greeting.get("_meta")));
        away.extend(unreachable(listed.get("_meta")));
    }
    let tools = match listed.get_mut("tools").map(Value::take) {
        Some(Value::Array(tools)) => tools,
        _ => Vec::new(),
    };
    let (server, greeting) = (names_itself, greeting.clone());
    let unreachable = away.into_iter().collect();
    Ok(Offer { server, revision, greeting, instructions, tools, unreachable })
}
