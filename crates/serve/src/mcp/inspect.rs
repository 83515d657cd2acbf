//! What a server offers, asked without a client.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::lines::{Line, Lines};
use super::message;

/// The most pages of a list that are read.
const PAGES: usize = 100;

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Its name and version, where it says so.
    pub server: Option<(String, String)>,
    /// The revision of the protocol.
    pub revision: Option<String>,
    /// Its tools, as it lists them.
    pub tools: Vec<Value>,
}

/// A server does not say what it offers.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// It does not start, or its streams broke.
    #[error("the server cannot be started: {0}")]
    NotStarted(io::Error),
    /// It took too long.
    #[error("the server did not answer `{0}` in time")]
    TooSlow(&'static str),
    /// It ended.
    #[error("the server ended before it answered `{0}`")]
    Ended(&'static str),
    /// It answered with an error.
    #[error("the server answered `{0}` with an error: {1}")]
    Refused(&'static str, String),
}

/// Starts a server, asks what it offers, and ends it.
///
/// # Errors
/// When it does not say so within `limit` for each question.
pub async fn inspect(mut command: Command, limit: Duration) -> Result<Offer, InspectError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(InspectError::NotStarted)?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(InspectError::NotStarted(io::Error::other("it has no streams")));
    };
    let mut asking = Asking { input, output: Lines::new(output), limit, asked: 0 };
    let greeting = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "counterfoil", "version": env!("CARGO_PKG_VERSION") },
    });
    let said = asking.ask("initialize", &greeting).await?;
    let text = |at: &str| said.pointer(at).and_then(Value::as_str).map(str::to_owned);
    let server = text("/serverInfo/name")
        .map(|name| (name, text("/serverInfo/version").unwrap_or_default()));
    let revision = text("/protocolVersion");
    asking.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let (mut tools, mut params) = (Vec::new(), json!({}));
    for _ in 0..PAGES {
        let page = asking.ask("tools/list", &params).await?;
        tools.extend(page.get("tools").and_then(Value::as_array).into_iter().flatten().cloned());
        match page.get("nextCursor").filter(|cursor| cursor.is_string()) {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    drop(asking);
    if timeout(Duration::from_secs(2), child.wait()).await.is_err() {
        child.kill().await.ok();
    }
    Ok(Offer { server, revision, tools })
}

struct Asking {
    input: ChildStdin,
    output: Lines<ChildStdout>,
    limit: Duration,
    asked: u64,
}

impl Asking {
    /// Where the server is gone, the next answer is missing, and that is told.
    async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        if self.input.write_all(line.as_bytes()).await.is_ok() {
            self.input.flush().await.ok();
        }
    }

    async fn ask(&mut self, method: &'static str, params: &Value) -> Result<Value, InspectError> {
        self.asked += 1;
        let id = self.asked;
        self.say(&message::request(&id.to_string(), method, params)).await;
        let answer = timeout(self.limit, self.answer(id)).await;
        let answer = answer.map_err(|_| InspectError::TooSlow(method))?;
        let mut answer = answer.ok_or(InspectError::Ended(method))?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(InspectError::Refused(
                method,
                answer.pointer("/error/message").map(Value::to_string).unwrap_or_default(),
            )),
        }
    }

    /// Whatever else it says meanwhile is left out.
    async fn answer(&mut self, id: u64) -> Option<Value> {
        loop {
            let Line::Text(text) = self.output.next().await.ok()?? else { continue };
            let Ok(message) = serde_json::from_str::<Value>(&text) else { continue };
            if message.get("method").is_none() && message.get("id") == Some(&id.into()) {
                return Some(message);
            }
        }
    }
}
