use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_formats::read_tools;
use counterfoil_guard::{
    Admitted, ByApproval, ByPolicy, ExecutorId, ExecutorKind, Permit, Progress, Scene, ToolError,
    ToolExecutor, ToolOutput,
};
use counterfoil_model::{Origin, Tool, ToolErrorCategory};
use serde_json::Value;

use super::error::AwayError;
use super::reconnecting::Reconnecting;
use super::{Client, ClientError, ClientOptions};
use crate::mcp::{Pins, PinsError, TRACE, code, oddities_of};
use crate::upstream::{Server, UpstreamError, wrong_headers};

/// Offers the tools of an MCP server as tools of a guard: `{server}__{tool}`.
///
/// A server's declarations about its tools are untrusted hints: results are never cached, calls are
/// only retried if the server declares the tool idempotent, and no call is made speculatively. A
/// server that is gone is restarted by the next call, after a growing pause. `isError` is a
/// failure.
#[derive(Clone)]
pub struct McpExecutor {
    server: Arc<Reconnecting>,
    tools: Arc<BTreeMap<String, Offered>>,
    asks: bool,
}

/// A tool of the server.
#[derive(Clone)]
struct Offered {
    /// The name on the server.
    name: String,
    tool: Tool,
    /// The tool as listed by the server.
    raw: Value,
    /// Whether the server declares it destructive.
    destroys: bool,
}

/// Why the tools of a server cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum McpExecutorError {
    /// The server is unreachable.
    #[error("{0}")]
    Away(String),
    /// The server does not list its tools.
    #[error("`{server}`: {reason}")]
    Client {
        /// The server's name.
        server: String,
        /// The reason.
        reason: ClientError,
    },
    /// The list of tools is invalid.
    #[error("the tools of `{server}` cannot be read: {reason}")]
    Tools {
        /// The server's name.
        server: String,
        /// What is wrong.
        reason: String,
    },
}

impl McpExecutor {
    /// Connects to a server and lists its tools. `name` is its name in this program.
    ///
    /// # Errors
    /// When it does not list its tools.
    pub async fn connect(
        name: &str,
        server: Server,
        options: ClientOptions,
    ) -> Result<Self, McpExecutorError> {
        let server = Reconnecting::new(name.to_owned(), server, options);
        let away = |error: AwayError| McpExecutorError::Away(error.to_string());
        let client = server.client().await.map_err(away)?;
        let tools = tools_of(name, &client).await?;
        Ok(Self { server: Arc::new(server), tools: Arc::new(tools), asks: false })
    }

    /// The same connection with the tools that the server lists now, if it has announced a change
    /// since its tools were listed; `None` otherwise. They are not compared with pinned versions: see
    /// [`Self::watched`].
    ///
    /// # Errors
    /// When it does not list its tools.
    pub async fn listed_again(&self) -> Result<Option<Self>, McpExecutorError> {
        let Some(client) = self.server.connected().await.filter(|client| client.take_changed())
        else {
            return Ok(None);
        };
        let listed = tools_of(&self.server.name, &client).await;
        // The change is still to be seen.
        let listed = listed.inspect_err(|_| client.note_changed())?;
        Ok(Some(Self { tools: Arc::new(listed), ..self.clone() }))
    }

    /// Requires approval for every call, not just for tools that the server declares destructive.
    #[must_use]
    pub fn asking(self) -> Self {
        Self { asks: true, ..self }
    }

    /// Compares the tools with their pinned versions, and returns descriptions of changes and
    /// oddities. With `hold`, changed tools are not offered.
    ///
    /// # Errors
    /// When pins cannot be read or written.
    pub fn watched(mut self, pins: &Pins, hold: bool) -> Result<(Self, Vec<String>), PinsError> {
        let raw: Vec<Value> = self.tools.values().map(|offered| offered.raw.clone()).collect();
        let mut warnings = oddities_of(&self.server.name, &raw);
        let (changes, changed) = pins.changed(&self.server.name, &raw)?;
        warnings.extend(changes);
        if hold {
            let tools = Arc::make_mut(&mut self.tools);
            tools.retain(|_, offered| !changed.contains(&offered.name));
        }
        Ok((self, warnings))
    }

    /// Closes the connection.
    pub async fn close(&self) {
        self.server.close().await;
    }

    async fn execute(
        &self,
        call: &Admitted,
        scene: &Scene<'_>,
        progress: &Progress,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let Some(offered) = self.tools.get(&call.tool().name) else { return Ok(None) };
        let away =
            |error: AwayError| ToolError::new(ToolErrorCategory::NetworkError, error.to_string());
        let client = self.server.client().await.map_err(away)?;
        let trace = scene.trace.map(|trace| (TRACE.to_owned(), trace.as_str().into()));
        let meta = trace.into_iter().collect();
        let result = client.call(&offered.name, call.exact_arguments(), meta, progress).await;
        match result {
            Ok(result) => Ok(Some(output(result))),
            Err(error) => {
                if matches!(error, ClientError::Ended { .. }) || client.has_ended() {
                    self.server.broke().await;
                }
                Err(failed(&error))
            }
        }
    }
}

/// The tools that the server lists.
async fn tools_of(
    name: &str,
    client: &Client,
) -> Result<BTreeMap<String, Offered>, McpExecutorError> {
    let failed = |reason| McpExecutorError::Client { server: name.to_owned(), reason };
    offered(name, &client.tools().await.map_err(failed)?)
}

fn offered(server: &str, listed: &[Value]) -> Result<BTreeMap<String, Offered>, McpExecutorError> {
    let (mut tools, mut names) = (BTreeMap::new(), BTreeSet::new());
    for raw in listed {
        let wrong = |reason: String| McpExecutorError::Tools { server: server.to_owned(), reason };
        let read = read_tools(&Value::Array(vec![raw.clone()]));
        for tool in read.map_err(|error| wrong(error.to_string()))? {
            if let Some(wrong) = tool.parameters.as_ref().and_then(wrong_headers) {
                tracing::warn!("ignored tool `{}` of `{server}`: {wrong}", tool.name);
                continue;
            }
            let name = format!("{server}__{}", tool.name);
            let destroys = raw.pointer("/annotations/destructiveHint") == Some(&Value::Bool(true));
            let origin = Origin::Mcp { server: server.to_owned() };
            let own = tool.name.clone();
            let tool = Tool { name: name.clone(), origin, ..tool };
            if !names.insert(name.clone()) {
                let named = &own;
                tracing::warn!(
                    "`{server}` has more than one tool named `{named}`: none of them is offered"
                );
                tools.remove(&name);
                continue;
            }
            tools.insert(name, Offered { name: own, tool, raw: raw.clone(), destroys });
        }
    }
    Ok(tools)
}

/// Converts a result to text and structured output.
fn output(result: Value) -> ToolOutput {
    let blocks = result.get("content").and_then(Value::as_array);
    let texts: Vec<String> = blocks.into_iter().flatten().map(block_text).collect();
    // Only an explicit absence of an error counts as success.
    let failed = match result.get("isError") {
        None | Some(Value::Null | Value::Bool(false)) => !result.is_object(),
        Some(_) => true,
    };
    let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
    let text = match (texts.is_empty(), &structured) {
        (true, Some(structured)) => structured.to_string(),
        _ => texts.join("\n"),
    };
    ToolOutput {
        text,
        structured,
        content: blocks.cloned().unwrap_or_default(),
        meta: result.get("_meta").cloned(),
        failure: failed.then_some(ToolErrorCategory::PermanentFailure),
        raw_response: Some(result),
        ..ToolOutput::default()
    }
}

/// A block of a result as text; non-text blocks are described.
fn block_text(block: &Value) -> String {
    let text = |at: &str| block.pointer(at).and_then(Value::as_str);
    if let Some(words) = text("/text").or_else(|| text("/resource/text")) {
        return words.to_owned();
    }
    let kind = text("/type").unwrap_or("block");
    let what = text("/mimeType").or_else(|| text("/resource/mimeType")).unwrap_or("unknown type");
    match text("/uri").or_else(|| text("/resource/uri")) {
        Some(uri) => format!("[{kind}: {uri}, {what}]"),
        None => format!("[{kind}: {what}]"),
    }
}

fn failed(error: &ClientError) -> ToolError {
    let category = match error {
        ClientError::TooSlow { .. } => ToolErrorCategory::Timeout,
        ClientError::Ended { .. }
        | ClientError::Upstream(
            UpstreamError::Ended
            | UpstreamError::NotReached(_)
            | UpstreamError::NotStarted { .. }
            | UpstreamError::Unset(_),
        ) => ToolErrorCategory::NetworkError,
        ClientError::Upstream(UpstreamError::Unreadable(_)) => ToolErrorCategory::ServerError,
        ClientError::NoOneToAsk => ToolErrorCategory::ConfirmationRequired,
        ClientError::Refused { code, .. } if *code == i64::from(code::INVALID_PARAMS) => {
            ToolErrorCategory::InvalidParameters
        }
        ClientError::Refused { .. } => ToolErrorCategory::PermanentFailure,
    };
    ToolError::new(category, error.to_string())
}

impl ToolExecutor for McpExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Mcp, self.server.name.clone())
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        self.tools.values().map(|offered| offered.tool.clone()).collect()
    }

    fn owns(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.execute(permit.call(), scene, permit.progress()).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.execute(permit.call(), scene, permit.progress()).await
    }

    fn requires_confirmation(&self, call: &Admitted, _scene: &Scene<'_>) -> Option<String> {
        let name = &call.tool().name;
        match self.tools.get(name) {
            None => {
                Some(format!("`{name}` is not a tool of the MCP server `{}`", self.server.name))
            }
            Some(offered) if offered.destroys => {
                Some(format!("the MCP server `{}` marks `{name}` as destructive", self.server.name))
            }
            Some(_) if self.asks => {
                Some(format!("it calls a tool of the MCP server `{}`", self.server.name))
            }
            Some(_) => None,
        }
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|offered| offered.tool.effects.idempotent == Some(true))
    }

    fn is_tool_speculatable(&self, _tool: &str) -> bool {
        false
    }
}
