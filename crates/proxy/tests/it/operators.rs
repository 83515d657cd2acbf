//! Sessions, keys, and what operators see.

use std::time::Duration;

use counterfoil_guard::GuardSettings;
use counterfoil_proxy::{KeyProvider, ProxyMode, ProxyOptions, VirtualKeyOptions};
use serde_json::json;

use crate::desk::{Desk, Scripted, received};
use crate::test;
use crate::wires::Says::{Call, Text};
use crate::wires::{On, WIRES};
use crate::{CANCELLED, LOOKED_UP};

#[test]
fn what_belongs_together_is_one_session() {
    test(async {
        for on in WIRES {
            let desk = Desk::new(ProxyMode::Annotate).await;
            // A call, its result, and conversations with the same beginning and different ends.
            desk.next(Scripted::stream(&on.stream(&[Call("call_a", "get_order", "{\"id\": 7}")])));
            desk.ask(on.path(), &on.request("Is it?", &[])).await;
            desk.answers(1).await;
            for at in 2..4 {
                desk.next(Scripted::stream(&on.stream(&[Text("Order 7 is shipped.")])));
                desk.ask(on.path(), &on.request("Is it?", &[LOOKED_UP])).await;
                desk.answers(at).await;
            }
            assert_eq!(desk.sessions().await.len(), 1, "{on:?}");
            // The same words in another conversation.
            desk.next(Scripted::stream(&on.stream(&[Text("Yes.")])));
            desk.ask(on.path(), &on.request("Is it?", &[])).await;
            desk.answers(4).await;
            assert_eq!(desk.sessions().await.len(), 2, "{on:?}");
        }
    });
}

#[test]
fn a_conversation_goes_on_by_its_words() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        desk.next(Scripted::stream(&On::Chat.stream(&[Text("Hello, what can I do?")])));
        desk.ask(On::Chat.path(), &On::Chat.request("Hi", &[])).await;
        desk.answers(1).await;
        let mut request = On::Chat.request("Hi", &[]);
        let entries = request["messages"].as_array_mut().unwrap();
        entries.push(json!({ "role": "assistant", "content": "Hello, what can I do?" }));
        entries.push(json!({ "role": "user", "content": "Nothing." }));
        desk.next(Scripted::stream(&On::Chat.stream(&[Text("Goodbye.")])));
        desk.ask(On::Chat.path(), &request).await;
        desk.answers(2).await;
        let recorded = desk.recorded().await;
        let texts: Vec<&str> = recorded.messages.iter().map(|m| m.text.as_str()).collect();
        assert_eq!(texts, ["Hi", "Hello, what can I do?", "Nothing.", "Goodbye."]);
    });
}

#[test]
fn what_the_server_keeps_is_remembered() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        let on = On::Responses;
        let first = on.stream(&[Text("Order 7 it is.")]);
        desk.next(Scripted::stream(&first));
        desk.ask(on.path(), &on.request("Cancel 7.", &[LOOKED_UP, CANCELLED])).await;
        desk.next(Scripted::stream(&first.replace("resp_1", "resp_2")));
        desk.ask(on.path(), &on.request("Look at 7.", &[LOOKED_UP])).await;
        let claim = on.stream(&[Text("I have cancelled order 7.")]).replace("resp_1", "resp_3");
        let other = claim.replace("resp_3", "resp_4");
        // Nothing is proven about a conversation that is not remembered; about a remembered one, it
        // is.
        for (previous, stream, passes) in
            [("resp_1", &claim, true), ("resp_0", &other, true), ("resp_2", &other, false)]
        {
            let mut request = on.request("And?", &[]);
            request["previous_response_id"] = json!(previous);
            desk.next(Scripted::stream(stream));
            let response = desk.ask(on.path(), &request).await;
            assert_eq!(response.text == *stream, passes, "{previous}: {}", response.text);
        }
    });
}

#[test]
fn a_compacted_history_keeps_its_evidence() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        let headers = [("x-counterfoil-session", "shop-1")];
        desk.next(Scripted::stream(&On::Chat.stream(&[Text("Order 7 it is.")])));
        let request = On::Chat.request("Cancel 7.", &[LOOKED_UP, CANCELLED]);
        desk.ask_as(On::Chat.path(), &headers, &request).await;
        desk.answers(1).await;
        let claim = On::Chat.stream(&[Text("I have cancelled order 7.")]);
        desk.next(Scripted::stream(&claim));
        let request = On::Chat.request("Summary: the user wants order 7 cancelled. Go on.", &[]);
        let response = desk.ask_as(On::Chat.path(), &headers, &request).await;
        assert_eq!(response.text, claim);
        // In a session of its own, the same words have no evidence.
        desk.next(Scripted::stream(&claim));
        let other = [("x-counterfoil-session", "shop-2")];
        let response = desk.ask_as(On::Chat.path(), &other, &request).await;
        assert_ne!(response.text, claim);
    });
}

#[test]
fn a_result_that_changes_is_noticed_and_the_first_one_counts() {
    test(async {
        for on in WIRES {
            let desk = Desk::new(ProxyMode::Block).await;
            let headers = [("x-counterfoil-session", "s")];
            let failed =
                ("call_b", "cancel_order", "{\"id\": 7}", "Error: order 7 is shipped already");
            desk.next(Scripted::stream(&on.stream(&[Text("It could not be cancelled.")])));
            let request = on.request("Cancel 7.", &[failed]);
            desk.ask_as(on.path(), &headers, &request).await;
            desk.answers(1).await;
            let claim = on.stream(&[Text("I have cancelled order 7.")]);
            desk.next(Scripted::stream(&claim));
            desk.next(Scripted::stream(&claim));
            let request = on.request("Cancel 7.", &[CANCELLED]);
            let response = desk.ask_as(on.path(), &headers, &request).await;
            assert_ne!(response.text, claim, "{on:?}");
            desk.answers(2).await;
            let events = last_events(&desk, 2).await;
            assert!(events.contains("FK040") && events.contains("cancel_order"), "{events}");
        }
    });
}

#[test]
fn a_result_that_is_left_out_is_noticed_and_counts_all_the_same() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        let headers = [("x-counterfoil-session", "s")];
        let on = On::Chat;
        desk.next(Scripted::stream(&on.stream(&[Text("It is done.")])));
        desk.ask_as(on.path(), &headers, &on.request("Cancel 7.", &[CANCELLED])).await;
        desk.answers(1).await;
        let claim = on.stream(&[Text("I have cancelled order 7.")]);
        desk.next(Scripted::stream(&claim));
        let mut request = on.request("Cancel 7.", &[CANCELLED]);
        request["messages"].as_array_mut().unwrap().pop();
        let response = desk.ask_as(on.path(), &headers, &request).await;
        assert_eq!(response.text, claim);
        desk.answers(2).await;
        let events = last_events(&desk, 2).await;
        assert!(events.contains("FK040") && events.contains("dropped the result"), "{events}");
    });
}

#[test]
fn a_stop_waits_for_what_is_being_answered_and_written_down() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        let on = On::Chat;
        let stream = on.stream(&[Text("Order 7 is cancelled.")]);
        let pause = Duration::from_millis(50);
        desk.next(Scripted { pause, ..Scripted::cut(&stream, stream.len() / 8) });
        // An operator who watches does not delay the shutdown.
        let watched = desk.send("/counterfoil/events", &[], "").await;
        let body = on.request("Cancel 7.", &[CANCELLED]).to_string();
        let answer = desk.send(on.path(), &[], &body).await;
        let (ledger, served) = (desk.ledger.clone(), desk.served);
        desk.stop.send(()).unwrap();
        let answer = received(answer).await;
        assert_eq!((answer.text, answer.broke), (stream, false));
        served.await.unwrap().unwrap();
        received(watched).await;
        let ids = ledger.recent(None, 100).unwrap();
        let tools: Vec<String> =
            ids.iter().map(|id| ledger.receipt(id).unwrap().unwrap().tool).collect();
        assert_eq!(tools, ["cancel_order"]);
    });
}

#[test]
fn a_model_that_repeats_itself_is_noticed() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        let failed = "Error: the shop is closed";
        let mut done = Vec::new();
        let ids = ["c0", "c1", "c2", "c3", "c4"];
        for (at, id) in ids.into_iter().enumerate() {
            desk.next(Scripted::stream(&On::Chat.stream(&[Call(id, "get_order", "{\"id\": 7}")])));
            desk.ask(On::Chat.path(), &On::Chat.request("Is it?", &done)).await;
            desk.answers(at as u64 + 1).await;
            done.push((id, "get_order", "{\"id\": 7}", failed));
        }
        let events = last_events(&desk, 5).await;
        assert!(events.contains("`get_order`: "), "{events}");
    });
}

/// The exchanges so far, as an operator reads them.
async fn last_events(desk: &Desk, count: usize) -> String {
    use http_body_util::BodyExt as _;
    let mut body = desk.send("/counterfoil/events", &[], "").await.into_body();
    let mut text = String::new();
    while text.matches("data: ").count() < count {
        let frame = body.frame().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
    }
    text
}

#[test]
fn keys_of_ours_stand_for_those_of_the_provider() {
    test(async {
        let key = VirtualKeyOptions {
            name: "team".to_owned(),
            key_env: "OWN".to_owned(),
            provider_key_env: "REAL".to_owned(),
            provider: KeyProvider::Anthropic,
            tokens_per_day: Some(20),
            ..VirtualKeyOptions::default()
        };
        let options = ProxyOptions { keys: vec![key], ..ProxyOptions::default() };
        let desk = Desk::with(options, GuardSettings::default()).await;
        let on = On::Messages;
        let request = on.request("Hi", &[]);
        let response = desk.ask(on.path(), &request).await;
        assert_eq!(response.status, 401);
        assert!(
            response.text.contains("[[proxy.keys]]")
                && response.text.contains("authentication_error")
        );
        for (at, expected) in [200, 200, 429].into_iter().enumerate() {
            desk.next(Scripted::stream(&on.stream(&[Text("Hello.")])));
            let response = desk.ask_as(on.path(), &[("x-api-key", "value of OWN")], &request).await;
            assert_eq!(response.status, expected);
            if expected == 200 {
                for _ in 0..200 {
                    let status = desk.own("status").await;
                    if status["tokens"]["input"] == json!(7 * (at + 1)) {
                        break;
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
            }
        }
        let head = desk.heard()[0].head.to_ascii_lowercase();
        assert!(head.contains("x-api-key: value of real"), "{head}");
        assert!(!head.contains("value of own"), "{head}");
    });
}

#[test]
fn operators_see_the_state_and_strangers_do_not() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        desk.next(Scripted::stream(&On::Chat.stream(&[Text("I have cancelled order 7.")])));
        desk.ask(On::Chat.path(), &On::Chat.request("Cancel 7.", &[LOOKED_UP])).await;
        let status = desk.answers(1).await;
        assert_eq!(status["mode"], "annotate");
        assert_eq!(status["answers"]["annotated"], 1);
        assert_eq!(status["findings"]["FK010"], 1);
        assert_eq!(received(desk.send("/healthz", &[], "").await).await.text, "ok\n");
        let metrics = received(desk.send("/metrics", &[], "").await).await.text;
        for line in [
            "counterfoil_proxy_answers_total{became=\"annotated\"} 1",
            "counterfoil_proxy_findings_total{rule=\"FK010\"} 1",
            "counterfoil_proxy_tokens_total{kind=\"input\"} 7",
            "counterfoil_proxy_sessions 1",
        ] {
            assert!(metrics.lines().any(|known| known == line), "{line}: {metrics}");
        }
        let page = [("origin", "https://evil.example")];
        let response = received(desk.send("/counterfoil/status", &page, "").await).await;
        assert_eq!(response.status, 403);
        assert!(response.text.contains("proxy.origins"), "{}", response.text);
    });
}

#[test]
fn everything_else_passes_as_it_is() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        for (path, body) in [
            ("/v1/models", ""),
            ("/v1/messages/count_tokens?beta=true", "{\"messages\": [ ]}"),
            ("/v1/embeddings", "{\"input\": \"I have cancelled order 7.\"}"),
            ("/v1/files/f1", ""),
        ] {
            desk.next(Scripted::status(200, "{\"I have cancelled order 7\": 1.50}"));
            let response = received(desk.send(path, &[("x-mine", "1")], body).await).await;
            assert_eq!(response.text, "{\"I have cancelled order 7\": 1.50}");
            let heard = desk.heard().pop().unwrap();
            assert!(heard.head.contains(&format!(" {path} ")), "{}", heard.head);
            assert!(heard.head.contains("x-mine: 1"));
            assert_eq!(heard.text, body);
        }
    });
}
