//! Calls as spans, sent to a collector on this machine.

use std::sync::Arc;
use std::time::Duration;

use counterfoil_guard::{
    FunctionExecutor, Guard, SessionStart, Surroundings, ToolError, TraceContext,
};
use counterfoil_model::{Arguments, Tool, ToolCall};
use counterfoil_serve::spans::{Spans, SpansOf};
use counterfoil_serve::{Proxy, ProxyOptions, serve_proxy};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// What the exporter sent: the request, as far as it is text.
async fn collected(listener: TcpListener) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = tokio::time::timeout(Duration::from_millis(500), stream.read(&mut buffer)).await;
        match read {
            Ok(Ok(count)) if count > 0 => request.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer).await.unwrap();
    String::from_utf8_lossy(&request).into_owned()
}

#[test]
fn every_answer_of_a_proxy_is_a_span() {
    crate::test(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = tokio::spawn(collected(listener));
        let spans = Spans::to(SpansOf::Tools, &format!("http://{address}/v1/traces")).unwrap();
        let away =
            ProxyOptions { openai_url: "http://127.0.0.1:9".to_owned(), ..ProxyOptions::default() };
        let guard = Guard::builder().build().unwrap();
        let proxy = Arc::new(Proxy::new(guard, away.resolve(|_| None).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let asking = async {
            let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
            let body = "{\"model\":\"m-1\",\"messages\":[]}";
            let request = format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        tokio::select! {
            () = asking => {}
            () = spans.follow_proxy(&proxy) => {}
            _ = serve_proxy(Arc::clone(&proxy), listener, None, std::future::pending()) => {}
        }
        spans.end().await;
        let sent = collector.await.unwrap();
        for text in ["chat m-1", "gen_ai.request.model", "counterfoil.became", "no answer"] {
            assert!(sent.contains(text), "{text}: {sent}");
        }
    });
}

#[test]
fn every_call_is_a_span_with_the_names_of_the_conventions() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = tokio::spawn(collected(listener));
        let spans = Spans::to(SpansOf::Tools, &format!("http://{address}/v1/traces")).unwrap();
        let fail = FunctionExecutor::new(Tool::named("fail"), |_: &Value| {
            Err::<String, _>(ToolError::of(
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
                guard.call(&session, call, around).await.unwrap();
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
