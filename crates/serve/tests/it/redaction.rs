//! With `mcp.redact_results`, no secret in what a server says reaches the client.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_guard::GuardSettings;
use serde_json::Value;

use crate::{listed, wait};

const SECRET: &str = "AKIAIOSFODNN7EXAMPL2";

/// What the client receives after a request with this method, with or without redaction.
fn passed(method: &str, answer: &str, redacts: bool) -> String {
    let gateway = listed(GuardSettings::default()).redacting(redacts);
    let params = r#"{"name":"get_order","arguments":{"id":7},"uri":"x"}"#;
    wait(gateway.from_client(&format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{params}}}"#
    )));
    let line = format!(r#"{{"jsonrpc":"2.0",{}}}"#, answer.replace("SECRET", SECRET));
    wait(gateway.from_server(&line)).unwrap()
}

#[test]
fn secrets_are_taken_out_wherever_a_model_or_a_person_may_read_them() {
    let blob = STANDARD.encode(format!("key={SECRET}"));
    let blob = format!(
        r#""id":2,"result":{{"content":[{{"type":"resource","resource":{{"uri":"x","blob":"{blob}"}}}}]}}"#
    );
    for (method, answer) in [
        ("tools/call", r#""id":2,"result":{"content":[{"type":"text","text":"a SECRET"}]}"#),
        ("tools/call", r#""id":2,"result":{"content":[{"type":"text","text":"\udcff SECRET"}]}"#),
        ("tools/call", r#""id":2,"result":{"content":[],"structuredContent":{"a":"SECRET"}}"#),
        ("tools/call", r#""id":2,"result":{"content":[],"_meta":{"a":"SECRET"}}"#),
        ("tools/call", r#""id":2,"result":{"content":[],"output":"SECRET"}"#),
        ("tools/call", r#""id":2,"result":{"content":[],"isError":true,"n":1e400,"t":"SECRET"}"#),
        (
            "tools/call",
            r#""id":2,"result":{"content":[{"type":"resource_link","uri":"a:SECRET","name":"SECRET","title":"SECRET","description":"SECRET"}]}"#,
        ),
        ("tools/call", r#""id":2,"result":{"content":[]},"note":"SECRET""#),
        ("tools/call", r#""id":2,"error":{"code":1,"message":"a"},"note":{"a":["SECRET"]}"#),
        ("tools/call", r#""method":"notifications/x","note":"SECRET","params":{}"#),
        ("tools/call", &blob),
        (
            "tools/call",
            r#""id":2,"result":{"content":[{"type":"resource","resource":{"uri":"x","blob":"SECRET!"}}]}"#,
        ),
        ("tools/call", r#""id":2,"error":{"code":1,"message":"SECRET"}"#),
        ("tools/call", r#""id":2,"error":{"code":1,"message":"a","data":{"env":"SECRET"}}"#),
        (
            "tools/call",
            r#""method":"notifications/message","params":{"level":"info","data":"SECRET"}"#,
        ),
        (
            "tools/call",
            r#""method":"notifications/progress","params":{"progressToken":7,"progress":1,"message":"SECRET"}"#,
        ),
        (
            "tools/call",
            r#""id":7,"method":"sampling/createMessage","params":{"messages":[{"content":{"type":"text","text":"SECRET"}}]}"#,
        ),
        ("resources/read", r#""id":2,"result":{"contents":[{"uri":"x","text":"SECRET"}]}"#),
        (
            "prompts/get",
            r#""id":2,"result":{"messages":[{"content":{"type":"text","text":"SECRET"}}]}"#,
        ),
        ("resources/read", r#""id":2,"error":{"code":1,"message":"SECRET"}"#),
        ("tools/list", r#""id":2,"error":{"code":1,"message":"SECRET"}"#),
    ] {
        let holds = |text: &str| {
            let message: Value = serde_json::from_str(text).unwrap_or_default();
            let decoded =
                message.pointer("/result/content/0/resource/blob").and_then(Value::as_str);
            let decoded = decoded.and_then(|text| STANDARD.decode(text).ok());
            text.contains(SECRET)
                || decoded.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains(SECRET))
        };
        assert!(holds(&passed(method, answer, false)), "{answer}");
        let without = passed(method, answer, true);
        assert!(!holds(&without), "{without}");
    }
}

#[test]
fn a_secret_in_several_blocks_is_taken_out_of_each() {
    let (one, two) = SECRET.split_at(9);
    for (between, kept) in [
        ("", vec!["a ", " b"]),
        (r#"{"type":"image","data":"AAAA","mimeType":"image/png"},"#, vec!["a ", " b", "AAAA"]),
        (r#"{"type":"text","text":""},"#, vec!["a ", " b"]),
    ] {
        let answer = format!(
            r#""id":2,"result":{{"content":[{{"type":"text","text":"a {one}"}},{between}{{"type":"text","text":"{two} b"}}]}}"#
        );
        let with = passed("tools/call", &answer, false);
        assert!(with.contains(one) && with.contains(two), "{with}");
        let without = passed("tools/call", &answer, true);
        assert!(!without.contains(one) && !without.contains(two), "{without}");
        assert!(kept.iter().all(|kept| without.contains(kept)), "{without}");
    }
    // Texts that are no secret together stay as they are.
    let answer = r#""id":2,"result":{"content":[{"type":"text","text":"token"},{"type":"text","text":"izer: 3 files"}]}"#;
    assert!(passed("tools/call", answer, true).contains("izer: 3 files"));
}

#[test]
fn what_is_no_secret_stays_as_it_was_written() {
    let picture = STANDARD.encode([0xff_u8, 0xd8, 0xff, 0xe0].repeat(300));
    for answer in [
        format!(
            r#""id":2,"result":{{"messages":[{{"type":"image","data":"{picture}"}}],"n":1.50,"big":12345678901234567890}}"#
        ),
        r#""id":2,"result":{"resultType":"input_required","requestState":"eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJlc2lnbmF0dXJlc2ln"}"#.to_owned(),
        r#""method":"notifications/message","params":{"level":"info","data":{"a" : [1, 2.0]}}"#.to_owned(),
    ] {
        assert_eq!(passed("prompts/get", &answer, true), format!(r#"{{"jsonrpc":"2.0",{answer}}}"#));
    }
    // Numbers next to a secret also stay verbatim.
    let without = passed(
        "prompts/get",
        r#""id":2,"result":{"a":"SECRET","b": [1.50, 12345678901234567890]}"#,
        true,
    );
    assert!(without.contains("[1.50, 12345678901234567890]"), "{without}");
}
