//! Calls that continue as tasks: their receipts are closed when the server reports how they ended.

use counterfoil_guard::GuardSettings;
use counterfoil_model::Status;
use counterfoil_serve::{Gateway, Step};
use serde_json::{Value, json};

use crate::gateway::receipts;
use crate::{json, listed, wait};

/// A gateway with a call that continues as the task `t`.
fn with_task() -> Gateway {
    let gateway = listed(GuardSettings::default());
    let params = json!({ "name": "get_order", "arguments": { "id": 7 }, "task": { "ttl": 60000 } });
    ask(&gateway, 2, "tools/call", params);
    let begun = json!({ "task": { "taskId": "t", "status": "working" } });
    assert!(answer(&gateway, 2, "result", begun)["result"]["_meta"].is_object());
    assert_eq!(statuses(&gateway), [Status::Open]);
    gateway
}

fn ask(gateway: &Gateway, id: i64, method: &str, params: Value) {
    let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let steps = wait(gateway.from_client(&line.to_string()));
    assert!(matches!(steps.as_slice(), [Step::Forward(_)]), "{steps:?}");
}

fn answer(gateway: &Gateway, id: i64, member: &str, value: Value) -> Value {
    let line = json!({ "jsonrpc": "2.0", "id": id, member: value });
    json(&wait(gateway.from_server(&line.to_string())).unwrap())
}

fn statuses(gateway: &Gateway) -> Vec<Status> {
    receipts(gateway).into_iter().map(|(_, status)| status).collect()
}

#[test]
fn the_result_of_a_task_is_the_result_of_its_call() {
    let text = json!([{ "type": "text", "text": "shipped" }]);
    for (member, value, status) in [
        ("result", json!({ "content": text }), Status::Completed),
        ("result", json!({ "content": text, "isError": true }), Status::Failed),
        ("result", json!({}), Status::Failed),
        ("error", json!({ "code": 1, "message": "no" }), Status::Failed),
        ("result", json!({ "task": { "taskId": "u", "status": "working" } }), Status::Failed),
    ] {
        let gateway = with_task();
        ask(&gateway, 3, "tasks/get", json!({ "taskId": "t" }));
        answer(&gateway, 3, "result", json!({ "taskId": "t", "status": "completed" }));
        assert_eq!(statuses(&gateway), [Status::Open], "its result is still to come");
        ask(&gateway, 4, "tasks/result", json!({ "taskId": "t" }));
        let reply = answer(&gateway, 4, member, value.clone());
        assert_eq!(statuses(&gateway), [status], "{value}");
        let named = reply["result"]["_meta"]["counterfoil/execution_id"].is_string();
        assert_eq!(named, reply["result"].is_object(), "{reply}");
    }
}

#[test]
fn what_the_server_says_of_a_task_closes_its_receipt() {
    let result = json!({ "content": [{ "type": "text", "text": "shipped" }] });
    let state = |status: &str| json!({ "taskId": "t", "status": status });
    let with = |status: &str, name: &str, value: &Value| {
        let mut task = state(status);
        task[name] = value.clone();
        task
    };
    let failed = json!({ "content": [], "isError": true });
    for (task, status) in [
        (state("working"), Status::Open),
        (state("input_required"), Status::Open),
        (state("done"), Status::Open),
        (json!({}), Status::Open),
        (state("cancelled"), Status::Cancelled),
        (with("completed", "result", &result), Status::Completed),
        (with("completed", "result", &failed), Status::Failed),
        // A result before completion does not count.
        (with("working", "result", &result), Status::Open),
        (with("failed", "error", &json!({ "code": 1, "message": "no" })), Status::Failed),
        // States that readers could interpret differently, and a state of another task.
        (with("working", "Status", &json!("completed")), Status::Open),
        (with("completed", "taskId", &json!("u")), Status::Open),
        (with("completed", "result", &json!({ "content": [], "IsError": true })), Status::Open),
    ] {
        for by_notification in [false, true] {
            let gateway = with_task();
            let reply = if by_notification {
                let method = "notifications/tasks";
                let line = json!({ "jsonrpc": "2.0", "method": method, "params": task });
                wait(gateway.from_server(&line.to_string()))
                    .map(|line| json(&line)["params"].clone())
            } else {
                ask(&gateway, 3, "tasks/get", json!({ "taskId": "t" }));
                Some(answer(&gateway, 3, "result", task.clone())["result"].clone())
            };
            assert_eq!(statuses(&gateway), [status], "{task}");
            let named = reply.map(|reply| reply["result"]["_meta"].is_object());
            let whole = status != Status::Open && task["result"].is_object();
            assert_eq!(named.unwrap_or_default(), whole, "{task}");
        }
    }
}

#[test]
fn a_task_that_outlives_its_session_is_closed_as_what_is_known_of_it() {
    for (state, status) in
        [("working", Status::Failed), ("completed", Status::Completed), ("failed", Status::Failed)]
    {
        let gateway = with_task();
        ask(&gateway, 3, "tasks/get", json!({ "taskId": "t" }));
        answer(&gateway, 3, "result", json!({ "taskId": "t", "status": state }));
        wait(gateway.end(true, "the client disconnected"));
        assert_eq!(statuses(&gateway), [status], "{state}");
    }
}

#[test]
fn only_who_takes_tasks_gets_one_and_each_is_one_call() {
    let able = json!({ "io.modelcontextprotocol/clientCapabilities":
        { "extensions": { "io.modelcontextprotocol/tasks": {} } } });
    let begun = json!({ "resultType": "task", "taskId": "t", "status": "working", "content": [] });
    for (meta, status) in [(json!({}), Status::Failed), (able.clone(), Status::Open)] {
        let gateway = listed(GuardSettings::default());
        let call = json!({ "name": "get_order", "arguments": { "id": 7 }, "_meta": meta });
        ask(&gateway, 2, "tools/call", call);
        answer(&gateway, 2, "result", begun.clone());
        assert_eq!(statuses(&gateway), [status]);
    }
    let gateway = with_task();
    let call = json!({ "name": "get_order", "arguments": { "id": 8 }, "_meta": able });
    ask(&gateway, 3, "tools/call", call);
    answer(&gateway, 3, "result", begun);
    assert_eq!(statuses(&gateway), [Status::Open, Status::Failed]);
}

#[test]
fn the_number_of_remembered_tasks_is_limited() {
    let gateway = listed(GuardSettings::default());
    for n in 0..1025 {
        let params = json!({ "name": "get_order", "arguments": { "id": n }, "task": {} });
        ask(&gateway, n, "tools/call", params);
        answer(&gateway, n, "result", json!({ "task": { "taskId": n.to_string() } }));
    }
    let ledger = gateway.ledger();
    let ids = ledger.recent(Some("s"), 2000).unwrap();
    let open = |id: &&String| ledger.receipt(id).unwrap().unwrap().status == Status::Open;
    assert_eq!(ids.iter().filter(open).count(), 1024);
}

/// What accompanies a task is not its result.
#[test]
fn a_task_with_content_beside_it_goes_on() {
    for begun in [
        json!({ "content": [], "task": { "taskId": "t", "status": "working" } }),
        json!({ "content": [], "resultType": "task", "taskId": "t" }),
    ] {
        let gateway = listed(GuardSettings::default());
        let params = json!({ "name": "get_order", "arguments": { "id": 7 }, "task": {} });
        ask(&gateway, 2, "tools/call", params);
        assert!(answer(&gateway, 2, "result", begun)["result"]["_meta"].is_object());
        assert_eq!(statuses(&gateway), [Status::Open]);
        ask(&gateway, 3, "tasks/result", json!({ "taskId": "t" }));
        answer(&gateway, 3, "result", json!({ "content": [], "isError": true }));
        assert_eq!(statuses(&gateway), [Status::Failed]);
    }
}

/// Clients without a session cannot be distinguished: none sees the tasks of another, and only who
/// knows the id of a task that was begun here reaches it.
#[test]
fn a_client_without_a_session_knows_only_the_tasks_that_it_names() {
    let gateway = listed(GuardSettings::default());
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "get_order", "arguments": { "id": 7 }, "task": {} } });
    let first = gateway.another_for("a");
    wait(first.from_client(&call.to_string()));
    let begun = json!({ "jsonrpc": "2.0", "id": 2,
        "result": { "resultType": "task", "taskId": "t" } });
    assert!(wait(first.from_server(&begun.to_string())).is_some());
    for (who, method, task, passes) in [
        ("a", "tasks/get", "t", true),
        ("a", "tasks/get", "u", false),
        ("b", "tasks/get", "t", false),
        ("b", "tasks/cancel", "t", false),
        ("b", "tasks/result", "t", false),
        ("b", "tasks/update", "t", false),
        ("a", "tasks/cancel", "t", true),
    ] {
        let line = json!({ "jsonrpc": "2.0", "id": 3, "method": method,
            "params": { "taskId": task } });
        let steps = wait(gateway.another_for(who).from_client(&line.to_string()));
        assert_eq!(matches!(*steps, [Step::Forward(_)]), passes, "{who} {method} {task}");
    }
    for params in [json!({}), json!({ "taskId": "t1" })] {
        let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tasks/list", "params": params });
        let steps = wait(gateway.another_for("a").from_client(&list.to_string()));
        let [Step::Answer(reply)] = &*steps else { panic!("{steps:?}") };
        assert_eq!(json(reply)["error"]["code"], json!(-32601));
    }
}
