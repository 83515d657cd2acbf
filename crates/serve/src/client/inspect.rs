use serde_json::Value;

use super::{Client, ClientError, ClientOptions};
use crate::mcp::{SERVER_INFO, UNREACHABLE};
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
    let client = Client::connect(server, options).await?;
    let tools = client.tools().await;
    client.close().await;
    let greeting = client.greeting();
    let said = greeting
        .get("serverInfo")
        .or_else(|| greeting.get("_meta").and_then(|meta| meta.get(SERVER_INFO)));
    let text = |member: &str| said.and_then(|said| said.get(member)?.as_str().map(str::to_owned));
    let names_itself = text("name").map(|name| (name, text("version").unwrap_or_default()));
    let instructions = greeting.get("instructions").and_then(Value::as_str).map(str::to_owned);
    let unreachable = greeting.get("_meta").and_then(|meta| meta.get(UNREACHABLE)?.as_array());
    let names = unreachable.into_iter().flatten().filter_map(Value::as_str);
    let unreachable = match server {
        Server::Several(_) => names.map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let revision = client.revision().map(str::to_owned);
    let (server, greeting) = (names_itself, greeting.clone());
    Ok(Offer { server, revision, greeting, instructions, tools: tools?, unreachable })
}
