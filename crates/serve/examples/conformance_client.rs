//! Our client for the conformance suite: every call goes through a guard. `tests/conformance/run`
//! has the suite start it; without a server, it names the scenarios that it plays.
#![expect(clippy::unwrap_used, reason = "the suite sees a failure")]
#![expect(clippy::disallowed_methods, reason = "the suite sets variables")]
#![expect(clippy::print_stdout, reason = "the suite keeps it beside its results")]

use std::sync::Arc;
use std::time::Duration;

use counterfoil_guard::{BoxFuture, Guard, SessionStart, Surroundings};
use counterfoil_model::ToolCall;
use counterfoil_serve::{ClientOptions, Elicits, McpExecutor, Remote, Server};
use serde_json::{Map, Value, json};

/// The scenarios that we support, and the calls to make in each, besides those that the suite names.
/// Authorization scenarios are not supported: a token comes in a header.
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

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Some(url) = std::env::args().nth(1) else {
        CALLS.iter().for_each(|(scenario, _)| println!("{scenario}"));
        return;
    };
    let variable = |name: &str| std::env::var(format!("MCP_CONFORMANCE_{name}")).ok();
    let scenario = variable("SCENARIO").unwrap();
    let (_, calls) = CALLS.iter().find(|(known, _)| *known == scenario).unwrap();
    let context = variable("CONTEXT").map(|text| serde_json::from_str(&text).unwrap());
    let calls = calls
        .iter()
        .map(|(tool, arguments)| ((*tool).to_owned(), serde_json::from_str(arguments).unwrap()));
    let calls: Vec<_> = calls.chain(named(&context.unwrap_or(Value::Null))).collect();
    let limit = Duration::from_secs(20);
    let mut options = ClientOptions::within(limit).eliciting(Arc::new(Agreeing));
    options.revision = variable("PROTOCOL_VERSION");
    let server = Server::Remote(Remote::new(&url, [], limit).unwrap());
    let executor = McpExecutor::connect("suite", server, options).await.unwrap();
    let guard = Guard::builder().executor(executor).build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    for (tool, mut arguments) in calls {
        if tool == "json_schema_echo" {
            let catalog = guard.catalog();
            let tool = catalog.get("suite__json_schema_2020_12_tool");
            let schema = tool.and_then(|tool| tool.parameters.clone());
            arguments = json!({ "schema": schema });
        }
        let call = ToolCall::new(&*tool, &*format!("suite__{tool}"), &*arguments.to_string());
        let answer = session.call(call, Surroundings::default()).await.unwrap();
        println!("{tool}: {} {}", answer.status.name(), answer.text);
    }
}

/// Returns the calls that the suite names.
fn named(context: &Value) -> Vec<(String, Value)> {
    let calls = context.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let call = |call: &Value| {
        Some((call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.clone()))
    };
    calls.filter_map(call).collect()
}
