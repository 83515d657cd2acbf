//! Our client for the conformance suite: every call goes through a guard.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use counterfoil_guard::{Answer, BoxFuture, Guard, Session, SessionStart, Surroundings};
use counterfoil_model::{Arguments as Given, ToolCall};
use counterfoil_serve::{ClientOptions, Elicits, McpExecutor, Remote, Server};
use serde_json::{Map, Value, json};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The server.
    url: String,
}

/// The calls to make in each scenario; `from` means the calls that the suite names.
const CALLS: &[(&str, &[(&str, &str)])] = &[
    ("initialize", &[]),
    ("tools_call", &[("add_numbers", r#"{"a":2,"b":3}"#)]),
    ("elicitation-sep1034-client-defaults", &[("test_client_elicitation_defaults", "{}")]),
    ("sse-retry", &[("test_reconnection", "{}")]),
    ("request-metadata", &[]),
    (
        "sep-2322-client-request-state",
        &[
            ("test_mrtr_echo_state", "{}"),
            ("test_mrtr_unrelated", "{}"),
            ("test_mrtr_no_state", "{}"),
            ("test_mrtr_no_result_type", "{}"),
        ],
    ),
    ("http-standard-headers", &[("test_headers", "{}")]),
    ("http-custom-headers", &[]),
    ("http-invalid-tool-headers", &[("valid_tool", r#"{"region":"eu"}"#)]),
    ("json-schema-ref-no-deref", &[]),
    ("json-schema-2020-12-preservation", &[("json_schema_echo", "{}")]),
];

/// Whether we support a scenario. Authorization scenarios are not supported: a token comes in a
/// header.
pub(crate) fn plays(scenario: &str) -> bool {
    CALLS.iter().any(|(known, _)| *known == scenario)
}

/// Accepts everything, with the defaults that are offered.
struct Agreeing;

impl Elicits for Agreeing {
    fn elicit<'a>(&'a self, params: &'a Value) -> BoxFuture<'a, Value> {
        let properties = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
        let filled = properties.into_iter().flatten().map(|(name, property)| {
            let value = property.get("default").cloned();
            (name.clone(), value.unwrap_or_else(|| json!(true)))
        });
        let content: Map<String, Value> = filled.collect();
        Box::pin(async move { json!({ "action": "accept", "content": content }) })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let variable = |name: &str| std::env::var(format!("MCP_CONFORMANCE_{name}")).ok();
    let scenario = variable("SCENARIO").context("the suite starts this")?;
    let Some((_, calls)) = CALLS.iter().find(|(known, _)| *known == scenario) else {
        bail!("`{scenario}` is not played");
    };
    let context = variable("CONTEXT").map(|text| serde_json::from_str(&text)).transpose()?;
    let mut calls: Vec<(String, Value)> = calls
        .iter()
        .map(|(tool, arguments)| Ok(((*tool).to_owned(), serde_json::from_str(arguments)?)))
        .collect::<Result<_>>()?;
    calls.extend(named(&context.unwrap_or(Value::Null)));
    let limit = Duration::from_secs(20);
    let mut options = ClientOptions::within(limit).eliciting(Arc::new(Agreeing));
    options.revision = variable("PROTOCOL_VERSION");
    let server = Server::Remote(Remote::new(&arguments.url, [], limit)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let executor = McpExecutor::connect("suite", server, options).await?;
        let guard = Guard::builder().executor(executor).build()?;
        let session = guard.session(SessionStart::default())?;
        for (tool, mut arguments) in calls {
            if tool == "json_schema_echo" {
                let catalog = guard.catalog();
                let tool = catalog.get("suite__json_schema_2020_12_tool");
                let schema = tool.and_then(|tool| tool.parameters.clone());
                arguments = json!({ "schema": schema });
            }
            call(&session, &tool, &arguments).await?;
        }
        anyhow::Ok(())
    })
}

/// Returns the calls that the suite names.
fn named(context: &Value) -> Vec<(String, Value)> {
    let calls = context.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let call = |call: &Value| {
        Some((call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.clone()))
    };
    calls.filter_map(call).collect()
}

#[expect(clippy::print_stdout, reason = "the suite keeps it beside its results")]
async fn call(session: &Session, tool: &str, arguments: &Value) -> Result<Answer> {
    let call = ToolCall {
        id: tool.to_owned(),
        tool: format!("suite__{tool}"),
        arguments: Given::raw(arguments.to_string()),
        line: 0,
    };
    let answer = session.call(call, Surroundings::default()).await?;
    println!("{tool}: {} {}", answer.status.name(), answer.text);
    Ok(answer)
}
