//! What happens to a model's calls.

use counterfoil_guard::{GuardOptions, GuardSettings};
use counterfoil_providers::Stop;
use counterfoil_proxy::{ProxyMode, ProxyOptions};
use serde_json::{Value, json};

use crate::LOOKED_UP;
use crate::desk::{Desk, Scripted};
use crate::test;
use crate::wires::Says::{Call, Text};
use crate::wires::{On, Says, WIRES};

const UNKNOWN: [Says; 2] = [Text("One moment."), Call("c1", "refund_order", "{\"id\": 7}")];
const KNOWN: [Says; 1] = [Call("c2", "get_order", "{\"id\": 7}")];

fn scripted(on: On, streams: bool, says: &[Says]) -> Scripted {
    match streams {
        true => Scripted::cut(&on.stream(says), 40),
        false => Scripted::json(&on.whole(says)),
    }
}

fn denying() -> GuardSettings {
    let options: Value = json!({ "policy": {
        "enabled": true, "default_effect": "allow",
        "rules": [{ "name": "no", "effect": "deny", "tool": "cancel_*" }],
    } });
    let tools = serde_json::from_value(options).unwrap();
    GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap()
}

#[test]
fn a_call_that_fits_no_tool_is_made_again() {
    test(async {
        for on in WIRES {
            for streams in [true, false] {
                let desk = Desk::new(ProxyMode::Correct).await;
                let mut request = on.request("Refund 7.", &[LOOKED_UP]);
                request["stream"] = json!(streams);
                desk.next(scripted(on, streams, &UNKNOWN));
                desk.next(scripted(on, streams, &KNOWN));
                let reply = on.read(&desk.ask(on.path(), &request).await.text);
                let calls: Vec<&str> = reply.calls.iter().map(|call| call.tool.as_str()).collect();
                assert_eq!(calls, ["get_order"], "{on:?}");
                assert_eq!(reply.stop, Stop::Calls);
                assert_eq!(reply.calls[0].arguments.as_str().replace(' ', ""), "{\"id\":7}");
                let again = desk.heard().last().unwrap().text.clone();
                assert!(
                    again.contains("refund_order") && again.contains("UNKNOWN_TOOL"),
                    "{again}"
                );
            }
        }
    });
}

#[test]
fn a_call_that_gets_no_better_passes_with_a_word_or_not_at_all() {
    test(async {
        for on in WIRES {
            for streams in [true, false] {
                for (mode, passes) in [
                    (ProxyMode::Observe, true),
                    (ProxyMode::Annotate, true),
                    (ProxyMode::Correct, true),
                    (ProxyMode::Block, false),
                ] {
                    let desk = Desk::new(mode).await;
                    let mut request = on.request("Refund 7.", &[LOOKED_UP]);
                    request["stream"] = json!(streams);
                    desk.next(scripted(on, streams, &UNKNOWN));
                    desk.next(scripted(on, streams, &UNKNOWN));
                    let reply = on.read(&desk.ask(on.path(), &request).await.text);
                    assert_eq!(reply.calls.len(), usize::from(passes), "{on:?} {mode:?} {streams}");
                    let says = reply.text.contains("Counterfoil");
                    assert_eq!(says, mode != ProxyMode::Observe, "{mode:?} {}", reply.text);
                    assert_eq!(reply.stop == Stop::Calls, passes, "{mode:?} {on:?} {streams}");
                }
            }
        }
    });
}

#[test]
fn what_the_operator_denies_is_not_offered_and_not_passed() {
    test(async {
        for on in WIRES {
            let options = ProxyOptions {
                mode: ProxyMode::Correct,
                max_corrections: 0,
                ..ProxyOptions::default()
            };
            let desk = Desk::with(options, denying()).await;
            let says = [Call("c1", "cancel_order", "{\"id\": 7}")];
            desk.next(Scripted::stream(&on.stream(&says)));
            let request = on.request("Cancel 7.", &[LOOKED_UP]);
            let response = desk.ask(on.path(), &request).await;
            assert_eq!(response.headers["counterfoil-tools"], "1 of 2");
            let heard = desk.heard().remove(0).text;
            assert!(!heard.contains("\"cancel_order\"") && heard.contains("get_order"), "{heard}");
            let reply = on.read(&response.text);
            assert!(reply.calls.is_empty(), "{on:?} {}", response.text);
            assert!(reply.text.contains("cancel_order"), "{}", reply.text);
        }
    });
}

#[test]
fn an_answer_in_a_form_keeps_it_where_only_its_call_is_refused() {
    test(async {
        for streams in [true, false] {
            let desk = Desk::new(ProxyMode::Block).await;
            let says = [Text("{\"at\": 7}"), Call("c1", "refund_order", "{\"id\": 7}")];
            let mut request = On::Chat.request("Refund 7.", &[LOOKED_UP]);
            request["stream"] = json!(streams);
            request["response_format"] = json!({ "type": "json_object" });
            desk.next(scripted(On::Chat, streams, &says));
            desk.next(scripted(On::Chat, streams, &says));
            let reply = On::Chat.read(&desk.ask(On::Chat.path(), &request).await.text);
            assert_eq!(reply.text, "{\"at\": 7}");
            assert!(reply.calls.is_empty());
            assert_eq!(reply.stop, Stop::End);
        }
    });
}

#[test]
fn tools_stay_as_they_were_for_a_session() {
    test(async {
        let options: Value = json!({ "dependencies": {
            "enabled": true, "rules": { "cancel_order": { "requires": ["get_order"] } },
        } });
        let tools = serde_json::from_value(options).unwrap();
        let settings = GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap();
        let desk = Desk::with(ProxyOptions::default(), settings).await;
        let headers = [("x-counterfoil-session", "s")];
        let done: &[(&str, &str, &str, &str)] = &[LOOKED_UP];
        for done in [&[], done] {
            desk.next(Scripted::stream(&On::Chat.stream(&[Text("Yes.")])));
            let request = On::Chat.request("Is it?", done);
            desk.ask_as(On::Chat.path(), &headers, &request).await;
        }
        let heard = desk.heard();
        assert_eq!(heard[0].body["tools"].as_array().unwrap().len(), 1);
        assert_eq!(
            heard[1].body["tools"].as_array().unwrap().len(),
            2,
            "what it waited for is done"
        );
        assert!(!heard[0].head.contains("x-counterfoil-session"));
    });
}

#[test]
fn room_to_think_ends_here() {
    test(async {
        let mut settings = GuardSettings::default();
        settings.tafc.enabled = true;
        settings.tafc.complexity_threshold = 0.0;
        for on in WIRES {
            for streams in [true, false] {
                let options = ProxyOptions { mode: ProxyMode::Annotate, ..ProxyOptions::default() };
                let desk = Desk::with(options, settings.clone()).await;
                let thinking = "{\"_tafc_think\": \"secret\", \"id\": 7}";
                let says = [Text("One moment."), Call("c1", "get_order", thinking)];
                let mut request = on.request("Is it?", &[]);
                request["stream"] = json!(streams);
                desk.next(scripted(on, streams, &says));
                let response = desk.ask(on.path(), &request).await;
                assert!(desk.heard()[0].text.contains("_tafc_think"));
                assert!(!response.text.contains("secret"), "{}", response.text);
                let reply = on.read(&response.text);
                assert_eq!(reply.calls[0].arguments.as_str(), "{\"id\":7}", "{on:?}");
                assert_eq!(reply.text, "One moment.");
                assert_eq!(reply.stop, Stop::Calls);
            }
        }
    });
}

#[test]
fn a_call_that_is_only_thinking_is_not_passed() {
    test(async {
        for on in WIRES {
            for streams in [true, false] {
                let desk = Desk::new(ProxyMode::Block).await;
                let says = [Call("c1", "get_order", "{\"_tafc_think\": \"secret\"}")];
                let mut request = on.request("Is it?", &[]);
                request["stream"] = json!(streams);
                desk.next(scripted(on, streams, &says));
                desk.next(scripted(on, streams, &says));
                let response = desk.ask(on.path(), &request).await;
                assert!(!response.text.contains("secret"), "{}", response.text);
                let reply = on.read(&response.text);
                assert!(reply.calls.is_empty(), "{on:?} {streams} {}", response.text);
                assert!(reply.text.contains("only your thoughts"), "{}", reply.text);
            }
        }
    });
}

/// Calls in a text, a part of each, and whether the answer is held: a rule denies the call, or its
/// arguments do not match the schema.
const SPOKEN: [(&str, &str, bool); 12] = [
    (
        "<tool_call>cancel_order\n<arg_key>id</arg_key>\n<arg_value>7</arg_value></tool_call>",
        "arg_key",
        true,
    ),
    (r#"{"name": "get_order", "parameters": {"id": "7"}}"#, "parameters", true),
    (r#"{"order": "get_order", "id": "7"}"#, "get_order", false),
    (
        r#"<tool_call>{"name": "get_order", "arguments": {"id": "7"}}</tool_call>"#,
        "tool_call>",
        true,
    ),
    (
        r#"One moment. <tool_call>{"name": "cancel_order", "arguments": {"id": 7}}</tool_call>"#,
        "arguments",
        true,
    ),
    (
        "One moment.\n\n```tool_code\nprint(default_api.cancel_order(id=7))\n```\n",
        "default_api",
        true,
    ),
    (
        "One moment.\n<function=cancel_order><parameter=id>7</parameter></function>",
        "function=",
        true,
    ),
    (r#"{"name": "cancel_order", "parameters": {"id": 7}}"#, "parameters", true),
    ("```tool_code\ncancel_order(id=order)\n```", "(id", true),
    (
        r#"One moment. <tool_call>{"name": "get_order", "arguments": {"id": 7}}</tool_call>"#,
        "arguments",
        false,
    ),
    ("I could call `cancel_order` with the id 7. Shall I?", "Shall", false),
    (r#"<tool_call>{"name": "refund", "arguments": {}}</tool_call>"#, "refund", false),
];

#[test]
fn a_call_in_a_text_is_judged_like_any_other() {
    test(async {
        for on in WIRES {
            for streams in [true, false] {
                for (text, part, denied) in SPOKEN {
                    let options = ProxyOptions {
                        mode: ProxyMode::Block,
                        verify_ms: 10_000,
                        ..ProxyOptions::default()
                    };
                    let desk = Desk::with(options, denying()).await;
                    let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                    request["stream"] = json!(streams);
                    for _ in 0..4 {
                        desk.next(scripted(on, streams, &[Text(text)]));
                    }
                    let response = desk.ask(on.path(), &request).await;
                    let passed = response.text.contains(part);
                    assert_eq!(passed, !denied, "{on:?} {streams} {text}: {}", response.text);
                }
            }
        }
    });
}
