//! The protocol without sessions (2026-07-28): each request declares its client's capabilities.

use counterfoil_guard::{GuardOptions, GuardSettings};
use counterfoil_model::Status;
use counterfoil_serve::{Gateway, Step};
use serde_json::{Value, json};

use crate::gateway::{answered, receipts};
use crate::{json, listed, wait};

fn call(id: i64, tool: &str, arguments: &Value, more: &Value) -> String {
    let mut params = json!({
        "name": tool, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        },
    });
    let members = params.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn gateway_that_asks() -> Gateway {
    let policy = r#"{"tools":{"permissions":{"rules":[{"tool":"cancel_*","action":"ask"}]}}}"#;
    let options: GuardOptions = serde_json::from_str(policy).unwrap();
    listed(options.resolve().unwrap())
}

fn statuses(gateway: &Gateway) -> Vec<Status> {
    receipts(gateway).into_iter().map(|(_, status)| status).collect()
}

#[test]
fn our_own_results_say_what_they_are() {
    let gateway = listed(GuardSettings::default());
    let reply = answered(&gateway, &call(2, "get_order", &json!({ "id": "x" }), &json!({})));
    let result = &reply["result"];
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
}

#[test]
fn a_call_is_made_again_with_a_person_s_answer() {
    for (action, agreed) in [("accept", true), ("decline", false), ("cancel", false)] {
        let gateway = gateway_that_asks();
        let arguments = json!({ "id": 7 });
        let missing = answered(&gateway, &call(2, "cancel_order", &arguments, &json!({})));
        assert_eq!(missing["result"]["resultType"], "input_required", "{missing}");
        let request = &missing["result"]["inputRequests"]["counterfoil"];
        assert_eq!(request["method"], "elicitation/create");
        assert!(gateway.open().is_empty(), "the first request is answered");
        let more = json!({
            "requestState": missing["result"]["requestState"],
            "inputResponses": { "counterfoil": { "action": action } },
        });
        let again = call(3, "cancel_order", &arguments, &more);
        match (agreed, wait(gateway.from_client(&again)).as_slice()) {
            (true, [Step::Forward(line)]) => {
                // The server receives a single call, and nothing of the question.
                assert_eq!(json(line), json(&call(3, "cancel_order", &arguments, &json!({}))));
                let result =
                    r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}"#;
                assert!(wait(gateway.from_server(result)).is_some());
                assert_eq!(statuses(&gateway), [Status::Completed]);
            }
            (false, [Step::Answer(text)]) => {
                let reply = json(text);
                assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(3), &json!(true)));
                assert_eq!(statuses(&gateway), [Status::Denied]);
            }
            other => panic!("{other:?}"),
        }
        // The question was already decided.
        let reply = answered(&gateway, &call(4, "cancel_order", &arguments, &more));
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
}

#[test]
fn an_agreement_is_to_one_call_only() {
    let gateway = gateway_that_asks();
    let missing = answered(&gateway, &call(2, "cancel_order", &json!({ "id": 7 }), &json!({})));
    let state = &missing["result"]["requestState"];
    let more = json!({
        "requestState": state, "inputResponses": { "counterfoil": { "action": "accept" } },
    });
    let reply = answered(&gateway, &call(3, "cancel_order", &json!({ "id": 8 }), &more));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert_eq!(statuses(&gateway), [Status::Denied]);
    let forged = json!({ "requestState": "counterfoil-x", "inputResponses": {} });
    let reply = answered(&gateway, &call(4, "cancel_order", &json!({ "id": 7 }), &forged));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
}

#[test]
fn what_a_server_asks_for_and_what_goes_on_is_not_done() {
    let gateway = listed(GuardSettings::default());
    let line = call(2, "get_order", &json!({ "id": 7 }), &json!({}));
    assert_eq!(wait(gateway.from_client(&line)), [Step::Forward(line)]);
    let more =
        r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s"}}"#;
    assert!(wait(gateway.from_server(more)).unwrap().contains(r#""requestState":"s""#));
    let state = json!({ "requestState": "s", "inputResponses": { "a": {} }, "task": {} });
    let line = call(3, "get_order", &json!({ "id": 7 }), &state);
    assert_eq!(wait(gateway.from_client(&line)), [Step::Forward(line)]);
    let task = r#"{"jsonrpc":"2.0","id":3,"result":{"task":{"taskId":"t","status":"working"}}}"#;
    assert!(wait(gateway.from_server(task)).is_some());
    assert_eq!(statuses(&gateway), [Status::Cancelled, Status::Open]);
}
