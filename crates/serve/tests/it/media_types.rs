//! Whatever type a server over HTTP gives its body, the client gets no body that was not inspected,
//! and no header but those that it needs.

use std::time::Duration;

use counterfoil_guard::GuardSettings;
use counterfoil_model::Status;
use counterfoil_serve::{Access, Remote, Server};
use http_body_util::BodyExt as _;
use hyper::Method;
use serde_json::{Value, json};

use crate::http::{ALONE, Desk};
use crate::session_anew::{NO_UTF8, answering};
use crate::test;

const FORGED: &str = "counterfoil/execution_id";

/// The answer of a server that claims to have a receipt already. As a stream if `flows`.
fn answer(request: &str, flows: bool, byte: &str) -> String {
    let body = request.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(id) = message.get("id") else { return "forged".to_owned() };
    let result = match message["method"].as_str() {
        Some("tools/list") => json!({ "tools": [{ "name": "say" }] }),
        _ => json!({ "content": [{ "type": "text", "text": format!("secret{byte}") }],
            "_meta": { FORGED: "forged" } }),
    };
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    if flows { format!("event: message\ndata: {message}\n\n") } else { message }
}

fn call() -> String {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let params = json!({ "name": "say", "arguments": {}, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params }).to_string()
}

#[test]
fn no_body_passes_that_was_not_read() {
    let cases = [
        ("application/json", false, "", true),
        ("Application/JSON", false, "", true),
        ("APPLICATION/JSON; charset=UTF-8", false, "", true),
        (" application/json ;x", false, "", true),
        ("text/event-stream", true, "", true),
        ("Text/Event-Stream;charset=utf-8", true, "", true),
        ("application/jsonx", false, "", false),
        ("text/json", false, "", false),
        ("application/x-ndjson", false, "", false),
        ("text/plain", false, "", false),
        ("", false, "", false),
        ("application/json", false, "\u{e000}", false),
        ("application/octet-stream", true, "", false),
    ];
    for (kind, flows, byte, is_read) in cases {
        test(async move {
            assert!(byte.chars().all(|c| c == NO_UTF8));
            let head = format!(
                "content-type: {kind}\r\nset-cookie: forged=1\r\naccess-control-allow-origin: *\r\nx-forged: 1\r\nmcp-test: 1\r\n"
            );
            let head: &'static str = Box::leak(head.into_boxed_str());
            let (url, _) =
                answering(move |request| (200, head, answer(request, flows, byte))).await;
            let remote = Remote::new(&url, [], Duration::from_secs(10)).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let (server, settings) = (Server::Remote(remote), GuardSettings::default());
            let desk = Desk::before(server, settings, Access::default(), folder).await;
            let response = desk.ask(Method::POST, "/mcp", &ALONE, &call()).await;
            let headers = format!("{:?}", response.headers());
            assert!(!headers.contains("forged") && !headers.contains("allow-origin"), "{headers}");
            assert_eq!(headers.contains("mcp-test"), is_read, "{headers}");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body = String::from_utf8_lossy(&body).into_owned();
            assert!(!body.contains("forged"), "{kind}: {body}");
            assert_eq!(body.contains("secret"), is_read, "{kind}: {body}");
            assert_eq!(body.contains("-32603"), !is_read, "{kind}: {body}");
            let status = if is_read { Status::Completed } else { Status::Failed };
            assert_eq!(desk.receipt().await.status, status, "{kind}");
            // Nor does a body in answer to a notification, which has none.
            let notification = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
            let response = desk.ask(Method::POST, "/mcp", &ALONE, notification).await;
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body.len(), 0, "{kind}: {body:?}");
        });
    }
}
