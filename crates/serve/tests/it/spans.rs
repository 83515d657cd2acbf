//! Calls as spans, sent to a local collector.

use std::time::Duration;

use counterfoil_guard::{
    FunctionExecutor, Guard, SessionStart, Surroundings, ToolError, TraceContext,
};
use counterfoil_model::{Arguments, Tool, ToolCall};
use counterfoil_serve::spans::{Spans, SpansOf};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::collector::collected;

#[test]
fn every_call_is_a_span_with_the_names_of_the_conventions() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = tokio::spawn(collected(listener));
        let spans = Spans::to(SpansOf::Tools, &format!("http://{address}/v1/traces")).unwrap();
        let fail = FunctionExecutor::new(Tool::named("fail"), |_: &Value| {
            Err::<String, _>(ToolError::new(
                counterfoil_model::ToolErrorCategory::ServerError,
                "it is down",
            ))
        });
        let add = FunctionExecutor::new(Tool::named("add"), |_: &Value| Ok::<_, ToolError>("3"));
        let guard = Guard::builder().executor(add).executor(fail).build().unwrap();
        let start = SessionStart { id: Some("s-7".to_owned()), ..SessionStart::default() };
        let session = guard.session(start).unwrap();
        let events = guard.events();
        let calls = async {
            for tool in ["add", "fail", "no_such_tool"] {
                let call = ToolCall {
                    id: format!("call-{tool}"),
                    tool: tool.to_owned(),
                    arguments: Arguments::raw("{}"),
                    line: 0,
                };
                let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
                let around = Surroundings {
                    trace: TraceContext::parse(trace).ok(),
                    ..Surroundings::default()
                };
                session.call(call, around).await.unwrap();
            }
        };
        tokio::select! {
            () = async { calls.await; tokio::time::sleep(Duration::from_millis(50)).await; } => {}
            () = spans.follow(events) => {}
        }
        spans.end().await;
        let sent = collector.await.unwrap();
        for part in [
            "POST /v1/traces",
            "execute_tool add",
            "execute_tool fail",
            "execute_tool no_such_tool",
            "gen_ai.tool.name",
            "gen_ai.tool.call.id",
            "call-fail",
            "gen_ai.conversation.id",
            "s-7",
            "error.type",
            "ServerError",
            "refused",
            "counterfoil.execution_id",
        ] {
            assert!(sent.contains(part), "{part}: {sent}");
        }
    });
}
