use counterfoil_formats::{Options, read, read_tools};
use serde_json::{Value, json};

/// Name and parameters of each tool, or the error.
fn check(list: Value, expected: &Result<&[(&str, Option<Value>)], &str>) {
    let found = read_tools(&list);
    match (&found, expected) {
        (Ok(tools), Ok(expected)) => {
            let found: Vec<_> =
                tools.iter().map(|t| (t.name.as_str(), t.parameters.clone())).collect();
            assert_eq!(&found, expected, "{list}");
        }
        (Err(error), Err(expected)) => assert_eq!(&error.to_string(), expected, "{list}"),
        _ => panic!("{list}: {found:?}"),
    }
}

#[test]
fn every_shape() {
    let schema = json!({ "type": "object", "properties": { "q": { "type": "string" } } });
    let one: &[(&str, Option<Value>)] = &[("find", Some(schema.clone()))];
    for list in [
        json!([{ "name": "find", "parameters": schema }]),
        json!({ "tools": [{ "name": "find", "input_schema": schema }] }),
        json!([{ "type": "function", "function": { "name": "find", "parameters": schema } }]),
        json!([{ "type": "function", "name": "find", "parameters": schema }]),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "find", "inputSchema": schema }] } }),
        json!([{ "functionDeclarations": [{ "name": "find", "parameters": schema }] }]),
        json!({ "find": schema }),
        json!({ "find": { "parameters": schema } }),
        json!({ "find": { "description": "Finds.", "input_schema": schema } }),
        json!({ "name": "find", "parameters": schema }),
    ] {
        check(list, &Ok(one));
    }
    check(json!(["a", { "name": "b" }]), &Ok(&[("a", None), ("b", None)]));
    check(json!([{ "type": "web_search" }]), &Ok(&[("web_search", None)]));
    check(json!([]), &Ok(&[]));
    check(json!({}), &Ok(&[]));
}

/// A provider's list may name only the kind of a tool that it runs itself.
#[test]
fn called_tools_of_the_provider_exist() {
    let responses = |item: Value, tool: Value| json!({ "object": "response", "output": [item], "tools": [tool] });
    let block = json!({ "type": "mcp_tool_use", "id": "m", "name": "create_issue", "input": {} });
    let message = json!({ "role": "assistant", "content": [block] });
    for (log, called) in [
        (
            responses(
                json!({ "type": "mcp_call", "id": "m", "name": "create_issue", "arguments": "{}" }),
                json!({ "type": "mcp", "server_label": "github" }),
            ),
            "create_issue",
        ),
        (
            responses(
                json!({ "type": "web_search_call", "id": "w", "status": "failed" }),
                json!({ "type": "web_search_preview" }),
            ),
            "web_search",
        ),
        (
            json!({
                "model": "m", "tools": [{ "type": "mcp_toolset", "mcp_server_name": "gh" }],
                "messages": [message],
            }),
            "create_issue",
        ),
    ] {
        let mut catalogs = Vec::new();
        let options = Options::new("log");
        let summary = read(log.to_string().as_bytes(), &options, &mut |reading| {
            catalogs.push(reading.transcript.catalog);
        });
        assert!(summary.is_ok(), "{log}");
        let listed = catalogs.iter().any(|catalog| catalog.get(called).is_some());
        assert!(listed, "{log}: {catalogs:?}");
    }
}

#[test]
fn every_error_names_the_place() {
    check(json!(7), &Err("expected a list of tools, got a number"));
    check(json!({"tools": "x"}), &Err("expected a list of tools at `/tools`, got a string"));
    check(json!({"tools": null, "functions": ["a"]}), &Ok(&[("a", None)]));
    check(json!(["a", 7]), &Err("tool at `/1`: expected a tool definition, got a number"));
    check(json!([{ "parameters": {} }]), &Err("tool at `/0`: missing name"));
    check(json!([""]), &Err("tool at `/0`: missing name"));
    check(
        json!({ "tools": [{ "type": "function", "function": { "name": "f", "parameters": [] } }] }),
        &Err("tool `f` at `/tools/0/function/parameters`: expected a JSON Schema (an \
              object), got a list"),
    );
}

#[test]
fn declared_effects_and_hints() {
    let tools = read_tools(&json!([
        { "name": "a", "inputSchema": {}, "annotations": { "readOnlyHint": true, "openWorldHint": false } },
        { "name": "b", "available": false, "effects": { "writes": true } },
    ]))
    .unwrap();
    assert_eq!((tools[0].effects.writes, tools[0].effects.network), (Some(false), Some(false)));
    assert_eq!((tools[1].available, tools[1].effects.writes), (false, Some(true)));
}
