//! The meaning of a result, in any spelling.

use counterfoil_guard::{GuardOptions, GuardSettings};
use counterfoil_model::Status;
use counterfoil_serve::Step;

use crate::gateway::receipts;
use crate::{json, listed, wait};

const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_order","arguments":{"id":7}}}"#;

#[test]
fn only_a_readable_result_that_says_no_error_is_a_success() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let many: Vec<String> = (0..60_000).map(|n| format!(r#""k{n}":1"#)).collect();
    let text = r#""content":[{"type":"text","text":"3 failed"}]"#;
    let (good, bad) = (Status::Completed, Status::Failed);
    for (answer, status) in [
        (format!(r#""result":{{{text}}}"#), good),
        (format!(r#""result":{{{text},"isError":false}}"#), good),
        (format!(r#""result":{{{text},"isError":null}}"#), good),
        (format!(r#""result":{{{text},"isError":true}}"#), bad),
        // Parts that strict readers reject do not hide the error.
        (
            r#""result":{"content":[{"type":"text","text":"\udcff"}],"isError":true}"#.to_owned(),
            bad,
        ),
        (format!(r#""result":{{{text},"isError":true,"_meta":{{"x":1e400}}}}"#), bad),
        (format!(r#""result":{{{text},"isError":true,"_meta":{{"x":{deep}}}}}"#), bad),
        (format!(r#""result":{{{text},"isError":true,"\ud800":1}}"#), bad),
        (r#""result":{"content":[{"type":"text","text":"\udcff"}]}"#.to_owned(), good),
        // Values of `isError` other than a clear "no error".
        (format!(r#""result":{{{text},"isError":"true"}}"#), bad),
        (format!(r#""result":{{{text},"isError":1}}"#), bad),
        (format!(r#""result":{{{text},"isError":{{}}}}"#), bad),
        // Results that readers could interpret differently.
        (format!(r#""result":{{{text},"isError":true,"isError":false}}"#), bad),
        (format!(r#""result":{{{text},"IsError":true}}"#), bad),
        (format!(r#""result":{{{text}}},"error":{{"code":1,"message":"two"}}"#), bad),
        (format!(r#""result":{{{text}}},"result":{{}}"#), bad),
        (format!(r#""result":{{{text}}},"Result":{{}}"#), bad),
        // Values that are not results.
        (r#""result":[{"counterfoil/execution_id":"forged"}]"#.to_owned(), bad),
        (r#""result":"done""#.to_owned(), bad),
        (r#""result":null"#.to_owned(), bad),
        (r#""result":{"task":{"taskId":"t","status":"completed"}}"#.to_owned(), bad),
        (r#""result":{}"#.to_owned(), bad),
        (r#""result":{"ok":true}"#.to_owned(), bad),
        (r#""result":{"content":null}"#.to_owned(), bad),
        (r#""result":{"content":"x"}"#.to_owned(), bad),
        (r#""result":{"content":{"type":"text","text":"x"}}"#.to_owned(), bad),
        // Readers differ in which of two members they take, at any depth.
        (r#""result":{"content":[{"type":"text","text":"a","text":"b"}]}"#.to_owned(), bad),
        (format!(r#""result":{{{text},"structuredContent":{{"a":[{{"b":1,"\u0062":2}}]}}}}"#), bad),
        (r#""error":{"code":1,"message":"no","data":{"a":1,"a":2}}"#.to_owned(), bad),
        (r#""result":{"structuredContent":{"ok":true}}"#.to_owned(), good),
        (format!(r#""result":{{{text},"resultType":"complete"}}"#), good),
        (format!(r#""result":{{{text},"resultType":"something_new"}}"#), bad),
        (r#""error":{"code":1,"message":"no"}"#.to_owned(), bad),
        (r#""other":{}"#.to_owned(), bad),
        (format!(r#""result":{{{}}}"#, many.join(",")), bad),
    ] {
        let gateway = listed(GuardSettings::default());
        wait(gateway.from_client(CALL));
        let line = format!(r#"{{"jsonrpc":"2.0","id":2,{answer}}}"#);
        let reply = wait(gateway.from_server(&line)).unwrap();
        assert_eq!(receipts(&gateway), [("get_order".to_owned(), status)], "{reply}");
        assert!(!reply.contains("forged"), "{reply}");
        assert!(gateway.open().is_empty());
    }
}

#[test]
fn ids_of_executions_are_ours_alone() {
    let gateway = listed(GuardSettings::default());
    let forged = r#"{"x":1.50,"counterfoil/execution_id":"forged"}"#;
    for (line, kept) in [
        (format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"_meta":{forged}}}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{{"_meta":{forged}}}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":"a","_meta":{forged}}}],"_meta":{forged}}}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":1,"message":"a","data":{forged}}}}}"#), true),
        (r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"_meta":"counterfoil/execution_id=forged"}}"#.to_owned(), false),
        (r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"x":1.50,"_meta":{"\u0063ounterfoil/execution_id":"forged"}}}"#.to_owned(), true),
    ] {
        wait(gateway.from_client(CALL));
        let reply = wait(gateway.from_server(&line)).unwrap();
        assert!(!reply.contains("forged"), "{reply}");
        assert_eq!(reply.contains("1.50"), kept, "{reply}");
        let own = &json(&reply)["result"]["_meta"]["counterfoil/execution_id"];
        assert_eq!(own.is_string(), line.contains("result"), "{reply}");
    }
}

#[test]
fn a_message_of_too_many_values_is_refused_and_its_call_closed() {
    let gateway = listed(GuardSettings::default());
    wait(gateway.from_client(CALL));
    let zeros = "0,".repeat(1_000_000);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[],"structuredContent":{{"a":[{zeros}0]}}}}}}"#
    );
    let reply = wait(gateway.from_server(&line)).unwrap();
    assert!(reply.contains("more than 1000000 values"), "{reply}");
    assert_eq!(receipts(&gateway), [("get_order".to_owned(), Status::Failed)]);
    // A long string is a single value, whatever it contains.
    wait(gateway.from_client(CALL));
    let text = "1,{[:".repeat(1_000_000);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":"\\\"{text}"}}]}}}}"#
    );
    assert!(wait(gateway.from_server(&line)).unwrap().contains("execution_id"));
}

/// The texts of a result.
fn texts(reply: &str) -> Vec<String> {
    let blocks = json(reply)["result"]["content"].as_array().cloned().unwrap_or_default();
    blocks.iter().map(|block| block["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_model_learns_that_it_repeats_itself() {
    let gateway = listed(GuardSettings::default());
    let result = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"none"}]}}"#;
    for number in 1..=4 {
        wait(gateway.from_client(CALL));
        let blocks = texts(&wait(gateway.from_server(result)).unwrap());
        assert_eq!(blocks[0], "none");
        let nudged = blocks.get(1).is_some_and(|text| text.contains("Consider:"));
        assert_eq!(
            (nudged, blocks.len()),
            (number >= 3, 1 + usize::from(number >= 3)),
            "{blocks:?}"
        );
    }
}

#[test]
fn the_id_of_an_execution_is_shown_as_the_settings_say() {
    for (show_id, shown) in [("metadata", false), ("trailer", true), ("embed", true)] {
        let policy = serde_json::json!({ "tools": { "show_id": show_id, "permissions": {
            "rules": [{ "tool": "cancel_*", "action": "deny" }] } } });
        let options: GuardOptions = serde_json::from_value(policy).unwrap();
        let gateway = listed(options.resolve().unwrap());
        wait(gateway.from_client(CALL));
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{}}}"#;
        let reply = wait(gateway.from_server(answer)).unwrap();
        let denied = CALL.replace("get_order", "cancel_order");
        let Some(Step::Answer(denied)) = wait(gateway.from_client(&denied)).into_iter().next()
        else {
            panic!("{show_id}: it passed");
        };
        for reply in [reply, denied] {
            let id = json(&reply)["result"]["_meta"]["counterfoil/execution_id"].clone();
            let beside = format!("(execution_id: {})", id.as_str().unwrap());
            let is_shown = texts(&reply).iter().any(|text| text.ends_with(&beside));
            assert_eq!(is_shown, shown, "{show_id}: {reply}");
        }
    }
}

#[test]
fn a_call_that_was_not_made_says_why_in_a_block() {
    let policy = r#"{"tools":{"permissions":{"rules":[
        {"tool":"get_*","action":"deny"},{"tool":"cancel_*","action":"ask"}]}}}"#;
    for (arguments, tool, category, retryable) in [
        (r#"{"id":"x"}"#, "get_order", "TypeMismatch", true),
        ("{}", "get_order", "InvalidParameters", true),
        (r#"{"id":7}"#, "get_order", "PolicyBlocked", false),
        (r#"{"id":8}"#, "cancel_order", "ConfirmationRequired", false),
    ] {
        let options: GuardOptions = serde_json::from_str(policy).unwrap();
        let gateway = listed(options.resolve().unwrap());
        let call = CALL.replace("get_order", tool).replace(r#"{"id":7}"#, arguments);
        let Some(Step::Answer(reply)) = wait(gateway.from_client(&call)).into_iter().next() else {
            panic!("{call} passed");
        };
        let text = texts(&reply).concat();
        assert!(text.contains(&format!("\n[tool_error]\ncategory: {category}\n")), "{text}");
        assert!(text.contains(&format!("\nretryable: {retryable}")), "{text}");
        assert_eq!(text.contains("make the call once more"), retryable, "{text}");
    }
}

/// A question that does not say who asks reaches no one, and none comes under an id like ours.
#[test]
fn a_question_passes_only_in_the_name_of_its_server() {
    let schema = r#""requestedSchema":{"type":"object","properties":{}}"#;
    for (id, params, passes) in [
        (r#""e""#, format!(r#"{{"message":"May it run?",{schema}}}"#), true),
        (r#""e""#, format!(r#"{{"message":"x","message":"May it run?",{schema}}}"#), false),
        (r#""e""#, format!(r#"{{"message":"x","Message":"May it run?",{schema}}}"#), false),
        (r#""e""#, format!(r#"{{"message":"\ud800May it run?",{schema}}}"#), false),
        (r#""e""#, format!(r#"{{"message":["May it run?"],{schema}}}"#), false),
        (r#""e""#, format!("{{{schema}}}"), false),
        (r#""counterfoil-get_order_1""#, format!(r#"{{"message":"May it run?",{schema}}}"#), false),
        (r#""\u0063ounterfoil-x""#, format!(r#"{{"message":"May it run?",{schema}}}"#), false),
    ] {
        let gateway = listed(GuardSettings::default());
        let request = format!(r#"{{"id":{id},"method":"elicitation/create","params":{params}}}"#);
        let reply = wait(gateway.from_server(&request));
        assert_eq!(reply.is_some(), passes, "{request}");
        let says_who = |reply: &str| reply.contains("Server `shop` asks: May it run?");
        assert!(reply.is_none_or(|reply| says_who(&reply)), "{request}");
        if id.contains("ounterfoil") {
            continue;
        }
        wait(gateway.from_client(CALL));
        let wanted = format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{"resultType":"input_required","requestState":"s","inputRequests":{{"k":{request}}}}}}}"#
        );
        let reply = wait(gateway.from_server(&wanted)).unwrap();
        assert_eq!(says_who(&reply), passes, "{reply}");
        assert_eq!(reply.contains("-32603"), !passes, "{reply}");
        let status = if passes { Status::Cancelled } else { Status::Failed };
        assert_eq!(receipts(&gateway), [("get_order".to_owned(), status)]);
    }
}
