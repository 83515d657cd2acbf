use std::collections::BTreeSet;

use counterfoil_guard::{GuardOptions, GuardSettings, Receipt};
use counterfoil_model::{PermitBasis, Status, ToolErrorCategory};
use counterfoil_serve::{Gateway, Step};
use serde_json::{Value, json};

use crate::{TOOLS, gateway, json, listed, wait};

fn call(id: i64, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":7}}}}}}"#
    )
}

/// The immediate answer to the client.
#[track_caller]
pub(crate) fn answered(gateway: &Gateway, line: &str) -> Value {
    match wait(gateway.from_client(line)).as_slice() {
        [Step::Answer(text)] => json(text),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn forwarded(gateway: &Gateway, line: &str) {
    assert_eq!(wait(gateway.from_client(line)), [Step::Forward(line.to_owned())]);
}

/// Status and tool of every receipt, in order.
pub(crate) fn receipts(gateway: &Gateway) -> Vec<(String, Status)> {
    whole_receipts(gateway).into_iter().map(|receipt| (receipt.tool, receipt.status)).collect()
}

pub(crate) fn whole_receipts(gateway: &Gateway) -> Vec<Receipt> {
    let ledger = gateway.ledger();
    let ids = ledger.recent(Some("s"), 100).unwrap();
    let mut all: Vec<_> = ids.iter().map(|id| ledger.receipt(id).unwrap().unwrap()).collect();
    all.sort_by_key(|receipt| receipt.seq);
    all
}

#[test]
fn what_needs_no_decision_passes_as_it_was_written() {
    let gateway = gateway(GuardSettings::default());
    let question = r#"{"jsonrpc":"2.0","id":99,"method":"roots/list"}"#;
    assert_eq!(wait(gateway.from_server(question)).as_deref(), Some(question));
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"n":1.50,"big":12345678901234567890}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{ "jsonrpc" : "2.0", "id" : "a", "method" : "resources/read", "params" : {"uri":"x"} }"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{"roots":[]}}"#,
    ] {
        forwarded(&gateway, line);
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"odd":{"x":1.0}},"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"n":1.50}}"#,
    ] {
        assert_eq!(wait(gateway.from_server(line)).as_deref(), Some(line));
    }
    assert!(gateway.open().is_empty());
}

#[test]
fn a_call_is_recorded_and_its_result_carries_the_id() {
    let gateway = listed(GuardSettings::default());
    forwarded(&gateway, &call(2, "get_order", r#"{"id":7}"#));
    let result = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"pending"}],"odd":1.50,"_meta":{"x":1}}}"#;
    let reply = wait(gateway.from_server(result)).unwrap();
    assert!(reply.contains(r#""odd":1.50"#), "{reply}");
    let reply = json(&reply);
    let id = reply["result"]["_meta"]["counterfoil/execution_id"].as_str().unwrap().to_owned();
    assert_eq!((&reply["id"], &reply["result"]["_meta"]["x"]), (&json!(2), &json!(1)));
    let receipt = gateway.ledger().receipt(&id).unwrap().unwrap();
    assert_eq!((receipt.status, receipt.tool.as_str()), (Status::Completed, "get_order"));
    assert_eq!(receipt.arguments, json!({ "id": 7 }));
}

#[test]
fn a_number_is_recorded_and_forwarded_as_it_was_written() {
    let gateway = listed(GuardSettings::default());
    for (id, number) in (2..).zip([
        "1234567890123456789",
        "1234567890123456700",
        "123456789012345678901234567890",
        "123456789012345678901234567891",
    ]) {
        let arguments = format!("{{\"id\":{number}}}");
        forwarded(&gateway, &call(id, "get_order", &arguments));
        // The name is corrected, and the numbers stay verbatim.
        let odd = call(id + 100, "get-order", &arguments);
        let meant = call(id + 100, "get_order", &arguments);
        assert_eq!(wait(gateway.from_client(&odd)), [Step::Forward(meant)]);
    }
    let ledger = gateway.ledger();
    let ids = ledger.recent(Some("s"), 100).unwrap();
    let receipts: Vec<_> = ids.iter().map(|id| ledger.receipt(id).unwrap().unwrap()).collect();
    let digests: BTreeSet<_> = receipts.iter().map(|receipt| receipt.arguments_digest).collect();
    assert_eq!((receipts.len(), digests.len()), (8, 4));
    let shown: BTreeSet<_> = receipts.iter().map(|one| one.arguments.to_string()).collect();
    assert!(shown.contains("{\"id\":123456789012345678901234567891}"), "{shown:?}");
    assert_eq!(shown.len(), 4, "{shown:?}");
}

#[test]
fn secrets_in_results_are_taken_out_where_that_is_wanted() {
    let result = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"key AKIAIOSFODNN7EXAMPL2 of 1.50"},{"type":"image","data":"AKIAIOSFODNN7EXAMPL2"}],"structuredContent":{"key":"AKIAIOSFODNN7EXAMPL2","n":1},"big":12345678901234567890}}"#;
    for (redacts, left) in [(false, 3), (true, 1)] {
        let gateway = listed(GuardSettings::default()).redacting(redacts);
        forwarded(&gateway, &call(2, "get_order", r#"{"id":7}"#));
        let reply = wait(gateway.from_server(result)).unwrap();
        assert_eq!(reply.matches("AKIAIOSFODNN7EXAMPL2").count(), left, "{reply}");
        assert!(reply.contains("12345678901234567890"), "{reply}");
        assert!(json(&reply)["result"]["structuredContent"]["key"].is_string(), "{reply}");
        let id = json(&reply)["result"]["_meta"]["counterfoil/execution_id"].clone();
        let receipt = gateway.ledger().receipt(id.as_str().unwrap()).unwrap().unwrap();
        assert_eq!(receipt.status, Status::Completed);
    }
}

#[test]
fn calls_that_do_not_fit_are_answered_and_never_reach_the_server() {
    let gateway = listed(GuardSettings::default());
    let unknown = answered(&gateway, &call(2, "get_ordr", r#"{"id":7}"#));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean `get_order`"));
    let wrong = answered(&gateway, &call(3, "get_order", r#"{"id":"seven"}"#));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    let text = wrong["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("[WRONG_TYPE]") && text.contains("nothing was executed"), "{text}");
    let odd = [
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"get_order","name":"x"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":6,"id":7,"method":"tools/call"}"#, -32700),
        (r#"{"jsonrpc":"2.0","id":8,"method":"Tools/call","params":{"name":"x"}}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call ","params":{"name":"x"}}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":10,"method":" tools/list"}"#, -32601),
        ("nonsense", -32700),
    ];
    for (line, code) in odd {
        assert_eq!(answered(&gateway, line)["error"]["code"], code, "{line}");
    }
    for method in ["tools/call", "TOOLS/CALL", "notifications/Cancelled"] {
        let silent =
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"name":"get_order"}}}}"#);
        assert_eq!(wait(gateway.from_client(&silent)), []);
    }
    // Nor does a client get such a request from a server.
    let asks = r#"{"jsonrpc":"2.0","id":9,"method":"Elicitation/create","params":{"message":"a"}}"#;
    assert_eq!(wait(gateway.from_server(asks)), None);
    let refused = ("get_order".to_owned(), Status::Refused);
    assert_eq!(receipts(&gateway), [("get_ordr".to_owned(), Status::Refused), refused]);
}

#[test]
fn what_is_repaired_reaches_the_server_as_it_is_meant() {
    let options = r#"{"tools":{"admission":{"coerce":true,"resolve_names":true}}}"#;
    let options: GuardOptions = serde_json::from_str(options).unwrap();
    let gateway = listed(options.resolve().unwrap());
    for (id, tool, arguments, meant) in [
        (2, "get-order", r#"{"id":7.0}"#, call(2, "get_order", r#"{"id":7.0}"#)),
        (3, "get_order", r#"{"id":"7"}"#, call(3, "get_order", r#"{"id":7}"#)),
        (4, "get-order", r#"{"id":"7"}"#, call(4, "get_order", r#"{"id":7}"#)),
    ] {
        let steps = wait(gateway.from_client(&call(id, tool, arguments)));
        assert_eq!(steps, [Step::Forward(meant)], "{tool} {arguments}");
    }
    assert!(receipts(&gateway).iter().all(|(tool, _)| tool == "get_order"));
}

#[test]
fn before_a_list_a_denial_is_about_every_writing_of_a_name() {
    let denied = r#"{"tools":{"permissions":{"rules":[{"tool":"cancelOrder","action":"deny"}]}}}"#;
    let only = r#"{"tools":{"permissions":{"default":"deny","rules":[{"tool":"get_order","action":"allow"}]}}}"#;
    for (options, tool, runs) in [
        (denied, "cancelOrder", false),
        (denied, "cancel_order", false),
        (denied, "Cancel-Order", false),
        (denied, " cancelOrder", false),
        (denied, "functions.cancel_order_tool", false),
        (denied, "get_order", true),
        (only, "get_order", true),
        (only, "cancel_order", false),
    ] {
        let options: GuardOptions = serde_json::from_str(options).unwrap();
        let gateway = gateway(options.resolve().unwrap());
        let steps = wait(gateway.from_client(&call(2, tool, r#"{"id":7}"#)));
        assert_eq!(matches!(*steps, [Step::Forward(_)]), runs, "{tool} {steps:?}");
    }
}

#[test]
fn a_question_of_the_server_says_who_asks() {
    let gateway = listed(GuardSettings::default());
    let asks = r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"May this tool call run?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let reply = json(&wait(gateway.from_server(asks)).unwrap());
    assert_eq!(reply["params"]["message"], "Server `shop` asks: May this tool call run?");
    // The answer reaches the server as before.
    let answer = r#"{"jsonrpc":"2.0","id":9,"result":{"action":"decline"}}"#;
    assert_eq!(wait(gateway.from_client(answer)), [Step::Forward(answer.to_owned())]);
}

#[test]
fn a_tool_of_which_no_call_would_be_let_through_is_not_offered() {
    for (options, names) in [
        ("{}", &["get_order", "cancel_order"][..]),
        (
            r#"{"tools":{"permissions":{"rules":[{"tool":"cancel_*","action":"deny"}]}}}"#,
            &["get_order"],
        ),
        (
            r#"{"tools":{"permissions":{"rules":[{"tool":"cancel_*","pattern":"7","action":"deny"}]}}}"#,
            &["get_order", "cancel_order"],
        ),
    ] {
        let options: GuardOptions = serde_json::from_str(options).unwrap();
        let gateway = gateway(options.resolve().unwrap());
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        forwarded(&gateway, list);
        let reply = wait(gateway.from_server(TOOLS)).unwrap();
        let shown = json(&reply);
        let tools = shown["result"]["tools"].as_array().unwrap();
        let found: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(found, names);
        // The rest is verbatim.
        assert!(
            reply.contains(r#""icons":[{"src":"x"}]"#) && reply.contains(r#""extra":1.50"#),
            "{reply}"
        );
        assert_eq!(reply == TOOLS, names.len() == 2);
    }
}

#[test]
fn a_policy_denies_and_the_model_reads_why() {
    let policy = r#"{"tools":{"permissions":{"rules":[{"tool":"cancel_*","action":"deny"}]}}}"#;
    let options: GuardOptions = serde_json::from_str(policy).unwrap();
    let gateway = listed(options.resolve().unwrap());
    let denied = answered(&gateway, &call(2, "cancel_order", r#"{"id":7}"#));
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    assert!(denied["result"]["_meta"]["counterfoil/execution_id"].is_string(), "{denied}");
    forwarded(&gateway, &call(3, "get_order", r#"{"id":7}"#));
    assert_eq!(receipts(&gateway)[0], ("cancel_order".to_owned(), Status::Denied));
}

#[test]
fn failures_of_the_server_close_receipts() {
    let gateway = listed(GuardSettings::default());
    for id in 2..6 {
        forwarded(&gateway, &call(id, "get_order", &format!(r#"{{"id":{id}}}"#)));
    }
    // An id in use can only be used once.
    assert_eq!(answered(&gateway, &call(2, "get_order", r#"{"id":9}"#))["error"]["code"], -32600);
    for line in [
        r#"{"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"broken"}}"#,
    ] {
        assert!(wait(gateway.from_server(line)).is_some());
    }
    // A second answer, an answer to no request, an answer that looks like a request, and no message
    // at all.
    for line in [
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping","result":{}}"#,
        "{",
    ] {
        assert_eq!(wait(gateway.from_server(line)), None, "{line}");
    }
    let replies = wait(gateway.end(false, "the MCP server exited before it answered"));
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert!(replies.iter().all(|text| json(text)["error"]["code"] == -32000), "{replies:?}");
    let statuses: Vec<Status> = receipts(&gateway).into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [Status::Failed; 4]);
}

#[test]
fn tools_are_validated_by_the_whole_list_only() {
    let gateway = gateway(GuardSettings::default());
    // Nothing has been listed, so only the gates apply.
    forwarded(&gateway, &call(1, "anything", "{}"));
    let page = |id: i64, cursor: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{cursor}}}}}"#)
    };
    let tools = |id: i64, name: &str, next: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]{next}}}}}"#
        )
    };
    forwarded(&gateway, &page(2, ""));
    wait(gateway.from_server(&tools(2, "one", r#","nextCursor":"n""#))).unwrap();
    forwarded(&gateway, &call(3, "two", "{}"));
    forwarded(&gateway, &page(4, r#""cursor":"n""#));
    wait(gateway.from_server(&tools(4, "two", ""))).unwrap();
    forwarded(&gateway, &call(5, "one", "{}"));
    assert_eq!(answered(&gateway, &call(6, "three", "{}"))["error"]["code"], -32602);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(wait(gateway.from_server(changed)).as_deref(), Some(changed));
    forwarded(&gateway, &call(7, "three", "{}"));
}

fn cancelled(id: i64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

#[test]
fn a_cancelled_call_has_a_closed_receipt() {
    let gateway = listed(GuardSettings::default());
    forwarded(&gateway, &call(2, "get_order", r#"{"id":7}"#));
    forwarded(&gateway, &cancelled(2));
    assert!(gateway.open().is_empty());
    // Until the server answers, its id is in use: the late answer would be that of another call.
    let other = call(2, "cancel_order", r#"{"id":7}"#);
    assert_eq!(answered(&gateway, &other)["error"]["code"], -32600);
    // Later answers from the server are dropped.
    assert_eq!(wait(gateway.from_server(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)), None);
    assert_eq!(receipts(&gateway), [("get_order".to_owned(), Status::Cancelled)]);
    forwarded(&gateway, &other);
    wait(gateway.from_server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#)).unwrap();
    // Cancellations of other requests still reach the server.
    forwarded(&gateway, &cancelled(77));
    assert!(gateway.open().is_empty());
}

#[test]
fn a_batch_is_taken_apart() {
    let gateway = listed(GuardSettings::default());
    let ping = r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#;
    let wrong = call(9, "get_ordr", "{}");
    let steps = wait(gateway.from_client(&format!("[{ping},{wrong}]")));
    assert_eq!(steps[0], Step::Forward(ping.to_owned()));
    assert!(matches!(&steps[1], Step::Answer(text) if json(text)["id"] == 9), "{steps:?}");
}

#[test]
fn a_question_reaches_a_person_where_the_client_can_ask() {
    let policy = r#"{"tools":{"permissions":{"rules":[{"tool":"cancel_*","action":"ask"}]}}}"#;
    let options: GuardOptions = serde_json::from_str(policy).unwrap();
    let settings = options.resolve().unwrap();
    // No one can be asked, so the call is denied.
    let gateway = listed(settings.clone());
    let denied = answered(&gateway, &call(2, "cancel_order", r#"{"id":7}"#));
    assert_eq!(denied["result"]["isError"], true, "{denied}");

    let gateway = listed(settings);
    let able = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"elicitation":{}}}}"#;
    forwarded(&gateway, able);
    for (id, action, runs) in [(2, "accept", true), (3, "decline", false), (4, "cancel", false)] {
        let line = call(id, "cancel_order", r#"{"id":7}"#);
        let question = answered(&gateway, &line);
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let text = question["params"]["message"].as_str().unwrap();
        assert!(text.contains(r#"cancel_order {"id":7}"#), "{text}");
        // Meanwhile, the server cannot answer it, and the client cannot reuse its id.
        let forged = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(wait(gateway.from_server(&forged)), None);
        assert_eq!(answered(&gateway, &line)["error"]["code"], -32600);
        let decided =
            json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": action } });
        let steps = wait(gateway.from_client(&decided.to_string()));
        match (runs, steps.as_slice()) {
            (true, [Step::Forward(text)]) => assert_eq!(*text, line),
            (false, [Step::Answer(text)]) => {
                let reply = json(text);
                assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(id), &json!(true)));
            }
            other => panic!("{other:?}"),
        }
    }
    // Cancelled while a person is asked: neither the call nor the answer reaches the server.
    let question = answered(&gateway, &call(5, "cancel_order", r#"{"id":7}"#));
    assert!(wait(gateway.from_client(&cancelled(5))).is_empty());
    let late = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } });
    assert!(wait(gateway.from_client(&late.to_string())).is_empty());
    wait(gateway.from_server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#)).unwrap();
    // `initialize`, which has not been answered here.
    assert_eq!(gateway.open().into_iter().collect::<Vec<_>>(), ["0"]);
    let statuses: Vec<Status> = receipts(&gateway).into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [Status::Completed, Status::Denied, Status::Denied, Status::Denied]);
    // Receipts say who agreed, and what became of the others.
    let recorded =
        whole_receipts(&gateway).into_iter().map(|receipt| (receipt.permit, receipt.codes));
    let recorded: Vec<_> = recorded.collect();
    let who = "the user of the MCP client".to_owned();
    let agreed = Some(PermitBasis::Approval { who, reason: None, uses: None });
    let denied = |code: &str| (None, vec![code.to_owned()]);
    let declined = || denied("approval_declined");
    assert_eq!(recorded, [(agreed, vec![]), declined(), declined(), denied("cancelled")]);
    // Nothing waits for approval after that.
    let last = whole_receipts(&gateway).pop().unwrap();
    assert_eq!(last.category, Some(ToolErrorCategory::Cancelled));
    // A client that cannot show the question has not declined.
    let question = answered(&gateway, &call(6, "cancel_order", r#"{"id":8}"#));
    let error = json!({ "code": -32601, "message": "no" });
    let wrong = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
    let reply = answered(&gateway, &wrong.to_string());
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("counterfoil approve"), "{text}");
    let last = whole_receipts(&gateway).pop().unwrap();
    assert_eq!(last.category, Some(ToolErrorCategory::ConfirmationRequired));
}

#[test]
fn a_successful_call_begins_the_corrections_again() {
    let gateway = listed(GuardSettings::default());
    let wrong = |id: i64| {
        let reply = answered(&gateway, &call(id, "get_order", r#"{"id":"seven"}"#));
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let stops = |text: &str| text.contains("make no further calls of this kind");
    for id in 2..5 {
        let text = wrong(id);
        assert!(!stops(&text) && text.contains("retryable: true"), "{text}");
    }
    // What it says at the end does not contradict itself.
    let text = wrong(5);
    assert!(stops(&text) && text.contains("retryable: false"), "{text}");
    assert!(!text.contains("call the tool again") && !text.contains("once more"), "{text}");
    forwarded(&gateway, &call(6, "get_order", r#"{"id":7}"#));
    let result = r#"{"jsonrpc":"2.0","id":6,"result":{"content":[]}}"#;
    assert!(wait(gateway.from_server(result)).is_some());
    assert!(!stops(&wrong(7)));
}
