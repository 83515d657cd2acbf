use std::time::Duration;

use counterfoil_guard::{
    FunctionExecutor, Guard, GuardOptions, Progress, SessionStart, ToolOutput,
};
use counterfoil_model::{Presentation, Tool};
use counterfoil_serve::serve;
use serde_json::{Value, json};

use crate::{json, wait};

#[test]
fn our_own_tools_are_a_server() {
    let tool = Tool {
        description: "Adds two numbers.".to_owned(),
        parameters: Some(json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
            "required": ["a", "b"],
        })),
        output: Some(json!({ "type": "object" })),
        presentation: Presentation {
            title: Some("Sum".to_owned()),
            icons: Some(json!([{ "src": "data:," }])),
            annotations: Some(json!({ "readOnlyHint": true, "x": 1 })),
            meta: Some(json!({ "y": 2 })),
        },
        ..Tool::named("add")
    };
    let add = FunctionExecutor::new(tool, |arguments: &Value| {
        let number = |name: &str| arguments[name].as_i64().unwrap_or_default();
        let sum = number("a") + number("b");
        let picture = json!({ "type": "image", "mimeType": "image/png", "data": "AA==" });
        Ok(ToolOutput {
            content: vec![json!({ "type": "text", "text": sum.to_string() }), picture],
            meta: Some(json!({ "z": 3 })),
            ..ToolOutput::from(json!({ "sum": sum }))
        })
    });
    let slow =
        FunctionExecutor::telling(Tool::named("slow"), |_: Value, progress: Progress| async move {
            progress.step(1.0, Some(2.0), Some("half"));
            // The progress update must reach the client while it is waiting.
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok("done")
        });
    let guard = Guard::builder().executor(add).executor(slow).build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let input = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"add","arguments":{"a":"x"}}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"p"}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/list"}"#,
        "nonsense",
        "",
    ]
    .join("\n");
    let mut output = Vec::new();
    wait(serve(&guard, &session, input.as_bytes(), &mut output)).unwrap();
    let text = String::from_utf8(output).unwrap();
    let answers: Vec<Value> = text.lines().map(json).collect();
    assert_eq!(answers.len(), 8, "{text}");
    let progress =
        answers.iter().find(|answer| answer["method"] == "notifications/progress").unwrap();
    let half = json!({ "progressToken": "p", "progress": 1.0, "total": 2.0, "message": "half" });
    assert_eq!(progress["params"], half);
    // Calls run concurrently, so answers arrive in any order.
    let of = |id: Value| {
        let is = |answer: &&Value| answer["id"] == id && answer["method"].is_null();
        answers.iter().find(is).unwrap()
    };
    let (added, wrong) = (of(json!("c")), of(json!(4)));
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    let listed = &answers[1]["result"]["tools"][0];
    assert_eq!((&listed["name"], &listed["title"]), (&json!("add"), &json!("Sum")));
    assert_eq!(listed["annotations"], json!({ "readOnlyHint": true, "x": 1 }));
    assert_eq!(listed["icons"][0]["src"], "data:,");
    assert_eq!(
        (&listed["_meta"]["y"], &listed["outputSchema"]["type"]),
        (&json!(2), &json!("object"))
    );
    assert_eq!(added["result"]["structuredContent"]["sum"], 5);
    assert_eq!(added["result"]["isError"], false);
    assert_eq!(added["result"]["content"][1]["data"], "AA==");
    assert_eq!(added["result"]["_meta"]["z"], 3);
    let id = added["result"]["_meta"]["counterfoil/execution_id"].as_str().unwrap();
    let receipt = guard.ledger().receipt(id).unwrap().unwrap();
    assert_eq!(receipt.trace.unwrap().trace_id(), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(wrong["result"]["isError"], true);
    assert_eq!(of(json!(5))["error"]["code"], -32601);
    assert_eq!(of(Value::Null)["error"]["code"], -32700);
}

#[test]
fn a_tool_that_the_rules_never_let_run_is_not_offered_and_denied_when_called() {
    let options: GuardOptions = serde_json::from_value(json!({ "tools": { "authorization": {
        "enabled": true,
        "rules": [
            { "effect": "deny", "tool": "erase" },
            { "effect": "deny", "tool": "read", "args_match": "secret" },
        ],
    }}}))
    .unwrap();
    let tool =
        |name| FunctionExecutor::new(Tool::named(name), |_: &Value| Ok(ToolOutput::from("done")));
    let guard = Guard::builder()
        .settings(options.resolve().unwrap())
        .executor(tool("erase"))
        .executor(tool("read"))
        .build()
        .unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let input = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"erase"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"erased"}}"#,
        "",
    ]
    .join("\n");
    let mut output = Vec::new();
    wait(serve(&guard, &session, input.as_bytes(), &mut output)).unwrap();
    let output = String::from_utf8(output).unwrap();
    let answers: Vec<Value> = output.lines().map(json).collect();
    let [list, call, unknown] = answers.as_slice() else { panic!("{output}") };
    let names: Vec<&Value> =
        list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read"], "{list}");
    assert_eq!(call["result"]["isError"], true, "{call}");
    assert!(call.to_string().contains("authorization.rules[0]"), "{call}");
    let unknown = unknown.to_string();
    assert!(unknown.contains("read") && !unknown.contains("`erase`"), "{unknown}");
}
