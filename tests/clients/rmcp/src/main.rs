//! Calls one tool with rmcp: TARGET TOOL ARGUMENTS.
//!
//! TARGET is a URL, or a command as a JSON list. Prints one line of JSON.

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [target, tool, arguments] = words.as_slice() else { return Err("three words".into()) };
    let client: RunningService<RoleClient, ()> = if target.starts_with("http") {
        ().serve(StreamableHttpClientTransport::from_uri(target.as_str())).await?
    } else {
        let command: Vec<String> = serde_json::from_str(target)?;
        let (program, rest) = command.split_first().ok_or("no command")?;
        let mut command = tokio::process::Command::new(program);
        command.args(rest);
        ().serve(TokioChildProcess::new(command)?).await?
    };
    let tools = client.list_all_tools().await?;
    let arguments: Value = serde_json::from_str(arguments)?;
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let call = CallToolRequestParams::new(tool.clone()).with_arguments(arguments);
    let result = serde_json::to_value(client.call_tool(call).await?)?;
    let report = json!({
        "tools": tools.len(),
        "text": result["content"][0]["text"],
        "error": result["isError"],
        "id": result["_meta"]["counterfoil/execution_id"],
    });
    println!("{report}");
    client.cancel().await?;
    Ok(())
}
