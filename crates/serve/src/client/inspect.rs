use serde_json::Value;

use super::{Client, ClientError, ClientOptions};
use crate::upstream::Server;

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Its name and version, where it says so.
    pub server: Option<(String, String)>,
    /// The revision of the protocol.
    pub revision: Option<String>,
    /// What it tells the model about its use.
    pub instructions: Option<String>,
    /// Its tools, as it lists them.
    pub tools: Vec<Value>,
}

/// Connects to a server, asks what it offers, and leaves.
///
/// # Errors
/// When it does not say so in time.
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
