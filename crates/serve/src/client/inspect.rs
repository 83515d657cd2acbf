use serde_json::Value;

use super::{Client, ClientError, ClientOptions};
use crate::upstream::Server;

/// What a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The server's name and version, if given.
    pub server: Option<(String, String)>,
    /// The revision of the protocol.
    pub revision: Option<String>,
    /// The server's instructions for the model.
    pub instructions: Option<String>,
    /// The tools as listed by the server.
    pub tools: Vec<Value>,
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
    let said = greeting.get("serverInfo").or_else(|| {
        greeting.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"))
    });
    let text = |member: &str| said.and_then(|said| said.get(member)?.as_str().map(str::to_owned));
    let server = text("name").map(|name| (name, text("version").unwrap_or_default()));
    let instructions = greeting.get("instructions").and_then(Value::as_str).map(str::to_owned);
    let revision = client.revision().map(str::to_owned);
    Ok(Offer { server, revision, instructions, tools: tools? })
}
