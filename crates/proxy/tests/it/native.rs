//! Calls of tools that models know natively, and requests that offer no tools.

use counterfoil_guard::{GuardOptions, GuardSettings};
use counterfoil_proxy::{ProxyMode, ProxyOptions};
use serde_json::{Value, json};

use crate::desk::{Desk, Scripted};
use crate::test;
use crate::wires::On;
use crate::wires::Says::Call;

/// Nothing may contain `PRODDB`, and no one may read `/etc/shadow`.
fn denying() -> GuardSettings {
    let options: Value = json!({ "policy": {
        "enabled": true, "default_effect": "allow",
        "rules": [
            { "name": "no prod", "effect": "deny", "tool": "*", "args_match": "PRODDB" },
            { "name": "no keys", "effect": "deny", "tool": "*", "paths": ["/etc/shadow"] },
        ],
    } });
    let tools = serde_json::from_value(options).unwrap();
    GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap()
}

async fn desk(mode: ProxyMode) -> Desk {
    let options =
        ProxyOptions { mode, max_corrections: 0, verify_ms: 10_000, ..ProxyOptions::default() };
    Desk::with(options, denying()).await
}

fn response(items: &[Value]) -> Value {
    json!({ "id": "resp_1", "object": "response", "status": "completed", "model": "m-1",
        "output": items, "usage": { "input_tokens": 7, "output_tokens": 5 } })
}

fn request(tools: &Value) -> Value {
    json!({ "model": "m-1", "input": "Do it.", "tools": tools })
}

/// A native call with these members.
fn call(kind: &str, members: &Value) -> Value {
    let mut call = json!({ "type": kind, "id": "i", "call_id": "c1", "status": "completed" });
    for (name, value) in members.as_object().unwrap() {
        call[name] = value.clone();
    }
    call
}

#[test]
fn everything_that_a_native_call_does_is_judged() {
    let exec = |more: Value| {
        let mut action = json!({ "type": "exec", "command": ["cat", "shadow"], "env": {} });
        for (name, value) in more.as_object().unwrap() {
            action[name] = value.clone();
        }
        json!({ "action": action })
    };
    test(async move {
        for (kind, members, passes) in [
            ("computer_call", json!({ "action": { "type": "type", "text": "ok" } }), true),
            ("computer_call", json!({ "action": { "type": "type", "text": "PRODDB" } }), false),
            ("computer_call", json!({ "actions": [{ "type": "type", "text": "ok" }] }), true),
            ("computer_call", json!({ "actions": [{ "type": "type", "text": "PRODDB" }] }), false),
            (
                "computer_call",
                json!({ "action": { "type": "wait" }, "actions": [{ "text": "PRODDB" }] }),
                false,
            ),
            ("computer_call", json!({ "steps": [{ "x": "a" }] }), false),
            ("local_shell_call", exec(json!({ "working_directory": "/var" })), true),
            ("local_shell_call", exec(json!({ "working_directory": "/etc" })), false),
            ("local_shell_call", exec(json!({ "env": { "DB": "PRODDB" } })), false),
        ] {
            let desk = desk(ProxyMode::Block).await;
            let item = call(kind, &members);
            desk.next(Scripted::json(&response(std::slice::from_ref(&item))));
            let tools = json!([{ "type": kind.trim_end_matches("_call") }]);
            let response = desk.ask(On::Responses.path(), &request(&tools)).await;
            let delivered = response.text.contains("\"call_id\"");
            assert_eq!(delivered, passes, "{item} {}", response.text);
        }
    });
}

#[test]
fn the_receipt_of_a_native_call_has_all_that_it_did() {
    test(async {
        let desk = desk(ProxyMode::Block).await;
        let item = call("computer_call", &json!({ "actions": [{ "type": "type", "text": "ok" }] }));
        desk.next(Scripted::json(&response(&[item])));
        desk.ask(On::Responses.path(), &request(&json!([{ "type": "computer" }]))).await;
        desk.answers(1).await;
        let receipts = format!("{:?}", desk.receipts());
        assert!(receipts.contains("actions"), "{receipts}");
    });
}

/// A stream of a call whose parts come piece by piece.
fn streamed(item: &Value, parts: &[Value]) -> String {
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    match item["type"].as_str().unwrap() {
        "shell_call" => begun["action"]["commands"] = json!([]),
        _ => begun["operation"]["diff"] = json!(""),
    }
    let mut all = vec![
        json!({ "type": "response.created", "response": response(&[]) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": begun }),
    ];
    all.extend(parts.iter().cloned());
    all.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
    let ended = response(std::slice::from_ref(item));
    all.push(json!({ "type": "response.completed", "response": ended }));
    all.iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_native_call_may_come_in_pieces() {
    let command = "grep -rn 'def main' src tests";
    let shell = call("shell_call", &json!({ "action": { "commands": [command] } }));
    let of_shell = |step: &str, name: &str, text: &str| {
        json!({ "type": format!("response.shell_call_command.{step}"), "output_index": 0,
            "command_index": 0, name: text })
    };
    let patch = call(
        "apply_patch_call",
        &json!({ "operation": { "type": "update_file", "path": "a", "diff": "@@\n-one\n+another one\n" } }),
    );
    let of_patch = |step: &str, name: &str, text: &str| {
        json!({ "type": format!("response.apply_patch_call_operation_diff.{step}"),
            "output_index": 0, "item_id": "i", name: text })
    };
    let typed = |text: &str| {
        vec![
            of_shell("added", "command", ""),
            of_shell("delta", "delta", text),
            of_shell("done", "command", text),
        ]
    };
    let patched =
        |text: &str| vec![of_patch("delta", "delta", text), of_patch("done", "diff", text)];
    test(async move {
        for (item, parts, passes) in [
            (&shell, typed(command), true),
            (&shell, typed("rm -rf /srv/data"), false),
            (&patch, patched("@@\n-one\n+another one\n"), true),
            (&patch, patched("@@\n-one\n+something else\n"), false),
        ] {
            let desk = desk(ProxyMode::Block).await;
            let stream = streamed(item, &parts);
            desk.next(Scripted::stream(&stream));
            let kind = item["type"].as_str().unwrap().trim_end_matches("_call");
            let mut body = request(&json!([{ "type": kind }]));
            body["stream"] = json!(true);
            let response = desk.ask(On::Responses.path(), &body).await;
            assert_eq!(response.text == stream, passes, "{}", response.text);
            assert!(passes || !response.text.contains("call_id"), "{}", response.text);
        }
    });
}

#[test]
fn tools_of_a_namespace_are_offered() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let tools = json!([{ "type": "namespace", "name": "crm", "description": "CRM", "tools": [
        { "type": "function", "name": "list_open", "description": "x", "parameters": schema },
    ] }]);
    let item = |name: &str| {
        json!({ "type": "function_call", "id": "f", "call_id": "c2", "name": name,
            "namespace": "crm", "arguments": "{\"a\":\"b\"}", "status": "completed" })
    };
    test(async move {
        for (name, passes) in [("list_open", true), ("list_all", false)] {
            let desk = desk(ProxyMode::Block).await;
            desk.next(Scripted::json(&response(&[item(name)])));
            let response = desk.ask(On::Responses.path(), &request(&tools)).await;
            assert_eq!(response.text.contains("\"call_id\""), passes, "{}", response.text);
        }
    });
}

#[test]
fn a_request_that_offers_nothing_gets_no_call() {
    let shell = call("local_shell_call", &json!({ "action": { "command": ["ls"], "env": {} } }));
    let function = json!({ "type": "function_call", "id": "f", "call_id": "c2", "name": "run",
        "arguments": "{}", "status": "completed" });
    test(async move {
        for item in [&shell, &function] {
            for (mut body, passes) in [
                (request(&json!([])), false),
                (json!({ "model": "m-1", "input": "Do it." }), false),
                // The server keeps its tools.
                (json!({ "model": "m-1", "input": "Do it.", "prompt": { "id": "p" } }), true),
            ] {
                body["stream"] = json!(false);
                let desk = desk(ProxyMode::Block).await;
                desk.next(Scripted::json(&response(std::slice::from_ref(item))));
                let response = desk.ask(On::Responses.path(), &body).await;
                assert_eq!(
                    response.text.contains("\"call_id\""),
                    passes,
                    "{body} {}",
                    response.text
                );
            }
        }
    });
}

#[test]
fn older_requests_offer_functions() {
    let says = [Call("c1", "get_order", "{\"id\": 7}")];
    test(async move {
        let desk = desk(ProxyMode::Block).await;
        let mut body = On::Chat.request("Look at 7.", &[]);
        body["stream"] = json!(false);
        let tools = body.as_object_mut().unwrap().remove("tools").unwrap();
        let functions: Vec<&Value> =
            tools.as_array().unwrap().iter().map(|tool| &tool["function"]).collect();
        let mut older = body.clone();
        older["functions"] = json!(functions);
        for (body, passes) in [(&body, false), (&older, true), (&body, false)] {
            desk.next(Scripted::json(&On::Chat.whole(&says)));
            let reply = desk.ask(On::Chat.path(), body).await.text;
            assert_eq!(reply.contains("\"tool_calls\":["), passes, "{reply}");
        }
    });
}

#[test]
fn the_servers_own_tools_run_though_another_tool_is_removed() {
    let searched = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
        "content": [
            { "type": "server_tool_use", "id": "s1", "name": "web_search",
                "input": { "query": "weather in Paris" } },
            { "type": "web_search_tool_result", "tool_use_id": "s1", "content": [
                { "type": "web_search_result", "title": "Weather in Paris today",
                    "url": "https://example.com", "encrypted_content": "abc" }] },
            { "type": "text", "text": "It is sunny in Paris." },
        ],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 } });
    test(async move {
        let options: Value = json!({ "policy": { "enabled": true, "default_effect": "allow",
            "rules": [{ "name": "no", "effect": "deny", "tool": "cancel_*" }] } });
        let tools = serde_json::from_value(options).unwrap();
        let settings = GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap();
        let options = ProxyOptions { mode: ProxyMode::Block, ..ProxyOptions::default() };
        let desk = Desk::with(options, settings).await;
        desk.next(Scripted::json(&searched));
        let mut body = On::Messages.request("How is the weather?", &[]);
        body["stream"] = json!(false);
        let own = json!({ "type": "web_search_20250305", "name": "web_search" });
        body["tools"].as_array_mut().unwrap().push(own);
        let response = desk.ask(On::Messages.path(), &body).await;
        assert_eq!(response.headers["counterfoil-tools"], "2 of 3");
        assert!(response.text.contains("It is sunny"), "{} {}", response.status, response.text);
    });
}
