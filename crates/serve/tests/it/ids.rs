//! Requests are matched by the meaning of their ids, and messages are only accepted if all readers
//! agree on them.

use counterfoil_guard::GuardSettings;
use counterfoil_model::Status;
use counterfoil_serve::Step;
use serde_json::json;

use crate::gateway::{answered, receipts};
use crate::{gateway, json, listed, wait};

fn call(id: &str, order: i64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"get_order","arguments":{{"id":{order}}}}}}}"#
    )
}

#[test]
fn two_spellings_of_an_id_are_one() {
    for (first, second, same) in [
        (r#""a""#, r#""\u0061""#, true),
        (r#""\/""#, r#""/""#, true),
        (r#""😀""#, r#""\ud83d\ude00""#, true),
        ("5", "5", true),
        ("5", r#""5""#, false),
        (r#""a""#, r#""A""#, false),
        ("5", "-5", false),
    ] {
        let gateway = listed(GuardSettings::default());
        assert!(matches!(*wait(gateway.from_client(&call(first, 1))), [Step::Forward(_)]));
        let steps = wait(gateway.from_client(&call(second, 2)));
        match (same, steps.as_slice()) {
            (true, [Step::Answer(reply)]) => assert_eq!(json(reply)["error"]["code"], -32600),
            (false, [Step::Forward(_)]) => {}
            other => panic!("{first} {second}: {other:?}"),
        }
        if !same {
            continue;
        }
        // The server may spell the id in any way.
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{second},"result":{{"content":[]}}}}"#);
        assert!(wait(gateway.from_server(&answer)).is_some(), "{second}");
        assert_eq!(receipts(&gateway), [("get_order".to_owned(), Status::Completed)]);
        let cancelled = listed(GuardSettings::default());
        wait(cancelled.from_client(&call(first, 1)));
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{second}}}}}"#
        );
        wait(cancelled.from_client(&cancel));
        assert_eq!(receipts(&cancelled), [("get_order".to_owned(), Status::Cancelled)]);
    }
}

#[test]
fn an_id_is_a_text_or_a_plain_whole_number() {
    for id in [
        "5.0",
        "5e0",
        "-0",
        "1E2",
        "9007199254740992",
        "12345678901234567890",
        "null",
        "true",
        "[1]",
        r#"{"a":1}"#,
        r#""\ud800""#,
    ] {
        let gateway = listed(GuardSettings::default());
        let reply = answered(&gateway, &call(id, 1));
        assert_eq!(reply["error"]["code"], -32700, "{id}: {reply}");
        assert!(gateway.open().is_empty() && receipts(&gateway).is_empty(), "{id}");
        let question = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
        assert_eq!(wait(gateway.from_server(&question)), None, "{id}");
    }
    for id in ["0", "-7", "9007199254740991", r#""""#] {
        let gateway = listed(GuardSettings::default());
        assert!(matches!(*wait(gateway.from_client(&call(id, 1))), [Step::Forward(_)]), "{id}");
    }
}

#[test]
fn what_some_readers_take_for_something_else_is_refused() {
    let gateway = listed(GuardSettings::default());
    for line in [
        r#"{"jsonrpc":"2.0","id":5,"Method":"tools/call","params":{"name":"cancel_order","arguments":{"id":1}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","METHOD":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","ID":5,"method":"tools/call","params":{"name":"get_order","arguments":{"id":1}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","paramſ":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"get_order","arguments":{"id":1},"Name":"cancel_order"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"get_order","arguments":{"id":1},"Arguments":{"id":2}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"a","NAME":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"a","URI":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"a","uri":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":5}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    ] {
        let reply = answered(&gateway, line);
        assert!(reply["error"]["code"].is_i64(), "{line}: {reply}");
    }
    let silent = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestID":1}}"#;
    assert_eq!(wait(gateway.from_client(silent)), []);
    assert!(gateway.open().is_empty() && receipts(&gateway).is_empty());
}

#[test]
fn only_questions_of_the_server_are_answered() {
    let gateway = gateway(GuardSettings::default());
    let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#);
    let ask = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
    assert_eq!(wait(gateway.from_client(&answer("7"))), []);
    for (id, answered) in [("7", "7"), (r#""\u0061""#, r#""a""#)] {
        assert!(wait(gateway.from_server(&ask(id))).is_some());
        let line = answer(answered);
        assert_eq!(wait(gateway.from_client(&line)), [Step::Forward(line.clone())]);
        assert_eq!(wait(gateway.from_client(&line)), [], "it is answered once");
    }
    // The server cancelled its question.
    wait(gateway.from_server(&ask("8")));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#;
    assert!(wait(gateway.from_server(cancel)).is_some());
    assert_eq!(wait(gateway.from_client(&answer("8"))), []);
    // A client without a session is asked nothing.
    wait(gateway.from_server(&ask("9")));
    assert_eq!(wait(gateway.another().from_client(&answer("9"))), []);
    // In a flood of questions, the oldest is dropped.
    for id in 0..2000 {
        wait(gateway.from_server(&ask(&id.to_string())));
    }
    assert_eq!(wait(gateway.from_client(&answer("0"))), []);
    assert_eq!(wait(gateway.from_client(&answer("1999"))).len(), 1);
    assert_eq!(json(&answer("1"))["result"], json!({ "roots": [] }));
}
