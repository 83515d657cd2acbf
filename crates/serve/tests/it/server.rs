use counterfoil_guard::{FunctionExecutor, Guard, SessionStart};
use counterfoil_model::Tool;
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
        ..Tool::named("add")
    };
    let add = FunctionExecutor::new(tool, |arguments: &Value| {
        let number = |name: &str| arguments[name].as_i64().unwrap_or_default();
        Ok(json!({ "sum": number("a") + number("b") }))
    });
    let guard = Guard::builder().executor(add).build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let input = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"add","arguments":{"a":"x"}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/list"}"#,
        "nonsense",
        "",
    ]
    .join("\n");
    let mut output = Vec::new();
    wait(serve(&guard, &session, input.as_bytes(), &mut output)).unwrap();
    let text = String::from_utf8(output).unwrap();
    let answers: Vec<Value> = text.lines().map(json).collect();
    assert_eq!(answers.len(), 6, "{text}");
    // Calls run at once: their answers come when they come.
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    let (added, wrong) = (of(json!("c")), of(json!(4)));
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers[1]["result"]["tools"][0]["name"], "add");
    assert_eq!(added["result"]["structuredContent"]["sum"], 5);
    assert_eq!(added["result"]["isError"], false);
    let id = added["result"]["_meta"]["counterfoil/execution_id"].as_str().unwrap();
    assert!(guard.ledger().receipt(id).unwrap().is_some());
    assert_eq!(wrong["result"]["isError"], true);
    assert_eq!(of(json!(5))["error"]["code"], -32601);
    assert_eq!(of(Value::Null)["error"]["code"], -32700);
}
