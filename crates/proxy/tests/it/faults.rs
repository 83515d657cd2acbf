//! Servers and clients that fail, and answers that cannot be read.

use std::time::Duration;

use counterfoil_guard::GuardSettings;
use counterfoil_proxy::{OnTimeout, ProxyMode, ProxyOptions};
use serde_json::json;
use tokio::time::sleep;

use crate::desk::{Desk, Scripted, received};
use crate::test;
use crate::wires::Says::Text;
use crate::wires::{On, WIRES};
use crate::{LOOKED_UP, MODES};

#[test]
fn errors_of_a_server_pass_as_they_are() {
    test(async {
        for mode in MODES {
            let desk = Desk::new(mode).await;
            for on in WIRES {
                for status in [400, 401, 429, 500, 529] {
                    let body = "{\"error\":{\"message\":\"no\"}}";
                    desk.next(Scripted::status(status, body));
                    let response = desk.ask(on.path(), &on.request("Hi", &[])).await;
                    assert_eq!((response.status, response.text.as_str()), (status, body));
                    assert_eq!(response.headers["x-odd"], "1");
                }
            }
        }
    });
}

#[test]
fn a_stream_that_breaks_off_is_no_whole_answer() {
    test(async {
        for mode in MODES {
            for on in WIRES {
                let desk = Desk::new(mode).await;
                let stream = on.stream(&[Text("Order 7 is shipped. It is on its way to you.")]);
                let half = stream.split("way").next().unwrap();
                desk.next(Scripted { breaks: true, ..Scripted::cut(half, 30) });
                let response = desk.ask(on.path(), &on.request("Is it?", &[LOOKED_UP])).await;
                assert!(response.broke, "{mode:?} {on:?}");
                let came = if mode == ProxyMode::Block { "shipped" } else { "its" };
                assert!(response.text.contains(came), "{mode:?} {on:?} {}", response.text);
                let status = desk.answers(1).await;
                assert_eq!(status["answers"]["broken off"], 1, "{status}");
            }
        }
    });
}

#[test]
fn what_cannot_be_read_passes_or_is_held() {
    test(async {
        for on in WIRES {
            for (mode, held) in [
                (ProxyMode::Observe, false),
                (ProxyMode::Annotate, false),
                (ProxyMode::Correct, false),
                (ProxyMode::Block, true),
            ] {
                let desk = Desk::new(mode).await;
                let stream = on.stream(&[Text("I have cancelled order 7.")]);
                let broken = stream.replacen("data: {", "data: {]", 4);
                desk.next(Scripted::cut(&broken, 64));
                let response = desk.ask(on.path(), &on.request("Cancel 7.", &[LOOKED_UP])).await;
                if held {
                    assert!(!response.text.contains("order 7."), "{}", response.text);
                    assert!(response.text.contains("could not be judged"), "{}", response.text);
                } else {
                    let (came, own) = without_comments(&response.text);
                    assert_eq!(came, broken, "{mode:?} {on:?}");
                    // Nothing unread is passed on silently.
                    let says = own.contains("\"not_judged\":\"an event cannot be read\"")
                        || own.contains("\"not_judged\":\"the answer cannot be read\"");
                    assert_eq!(says, mode != ProxyMode::Observe, "{mode:?} {on:?}: {own}");
                }
                let status = desk.answers(1).await;
                assert_eq!(status["answers"]["not judged"], 1, "{status}");
                // The same, without streaming.
                let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(false);
                desk.next(Scripted::status(200, "{\"odd\": true}"));
                let response = desk.ask(on.path(), &request).await;
                assert_eq!(response.status, if held { 502 } else { 200 });
                let found = response.headers.get("counterfoil-findings");
                let says = found.is_some_and(|f| f.to_str().unwrap().contains("not_judged"));
                assert_eq!(says, !held && mode != ProxyMode::Observe, "{mode:?} {on:?}");
            }
        }
    });
}

/// Splits a stream into what the server sent and the comments that we added.
pub(super) fn without_comments(stream: &str) -> (String, String) {
    let is_own = |event: &&str| event.starts_with(": counterfoil");
    let (own, came): (Vec<&str>, Vec<&str>) = stream.split_inclusive("\n\n").partition(is_own);
    (came.concat(), own.concat())
}

#[test]
fn requests_that_cannot_be_read_are_their_servers_affair() {
    test(async {
        for mode in [ProxyMode::Correct, ProxyMode::Block] {
            let strict = Desk::new(mode).await;
            for body in ["{", "[1]", "\"x\""] {
                let response = received(strict.send(On::Chat.path(), &[], body).await).await;
                assert_eq!(response.status, 400);
                assert!(response.text.contains("could not be judged"), "{}", response.text);
            }
            assert!(strict.heard().is_empty());
        }
        let desk = Desk::new(ProxyMode::Annotate).await;
        for body in ["{", "[1]", "{\"messages\": 7}", "\"x\"", "{\"messages\":[{\"role\":7}]}"] {
            desk.next(Scripted::status(400, "{\"error\":{\"message\":\"what?\"}}"));
            let response = received(desk.send(On::Chat.path(), &[], body).await).await;
            assert_eq!(response.status, 400);
            assert_eq!(desk.heard().last().unwrap().text, body);
        }
    });
}

#[test]
fn a_million_tools_are_read() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        let mut request = On::Chat.request("Is it?", &[LOOKED_UP]);
        let tool = json!({ "type": "function", "function": { "name": "t" } });
        request["tools"] = json!(vec![tool; 200_000]);
        let stream = On::Chat.stream(&[Text("Yes.")]);
        desk.next(Scripted::stream(&stream));
        let response = desk.ask(On::Chat.path(), &request).await;
        assert_eq!(response.text, stream);
        let options = ProxyOptions { max_body_bytes: 1000, ..ProxyOptions::default() };
        let desk = Desk::with(options, GuardSettings::default()).await;
        let response = desk.ask(On::Messages.path(), &request).await;
        assert_eq!(response.status, 413);
        assert!(response.text.starts_with("{\"type\":\"error\""), "{}", response.text);
        assert!(desk.heard().is_empty());
    });
}

#[test]
fn a_client_that_leaves_ends_the_answer() {
    test(async {
        for mode in [ProxyMode::Observe, ProxyMode::Block] {
            let desk = Desk::new(mode).await;
            let words = "Order 7 is shipped. ".repeat(2000);
            let stream = On::Chat.stream(&[Text(words.leak())]);
            let scripted = Scripted::cut(&stream, 200);
            desk.next(Scripted { pause: Duration::from_millis(2), ..scripted });
            let request = On::Chat.request("Is it?", &[LOOKED_UP]).to_string();
            let response = desk.send(On::Chat.path(), &[], &request).await;
            drop(response);
            let status = desk.answers(1).await;
            assert_eq!(status["answers"]["broken off"], 1, "{status}");
            for _ in 0..200 {
                if *desk.left.lock().unwrap() == 1 {
                    break;
                }
                sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(*desk.left.lock().unwrap(), 1, "the server is told");
        }
    });
}

#[test]
fn a_server_that_is_not_there_is_an_error_of_the_wire() {
    test(async {
        let options = ProxyOptions { mode: ProxyMode::Block, ..ProxyOptions::default() };
        let desk = Desk::with(options, GuardSettings::default()).await;
        let away = ProxyOptions {
            openai_url: "http://127.0.0.1:9".to_owned(),
            anthropic_url: "http://127.0.0.1:9".to_owned(),
            ..ProxyOptions::default()
        };
        desk.proxy.reload(away.resolve(|_| None).unwrap());
        for on in WIRES {
            let response = desk.ask(on.path(), &on.request("Hi", &[])).await;
            assert_eq!(response.status, 502);
            assert!(
                response.text.contains("127.0.0.1:9") && response.text.contains("error"),
                "{}",
                response.text
            );
        }
        assert_eq!(desk.answers(3).await["answers"]["no answer"], 3);
    });
}

#[test]
fn silence_ends() {
    test(async {
        let options = ProxyOptions { timeout_secs: 1, ..ProxyOptions::default() };
        let desk = Desk::with(options, GuardSettings::default()).await;
        let stream = On::Chat.stream(&[Text("Order 7 is shipped. Yes.")]);
        let scripted = Scripted::cut(&stream, stream.len() / 2);
        desk.next(Scripted { pause: Duration::from_secs(5), ..scripted });
        let response = desk.ask(On::Chat.path(), &On::Chat.request("Is it?", &[LOOKED_UP])).await;
        assert!(response.broke);
    });
}

#[test]
fn too_much_to_hold_is_not_held_in_memory() {
    test(async {
        for (on_timeout, passes) in [(OnTimeout::Pass, true), (OnTimeout::Hold, false)] {
            let options = ProxyOptions {
                mode: ProxyMode::Block,
                max_held_bytes: 2000,
                on_timeout: Some(on_timeout),
                ..ProxyOptions::default()
            };
            let desk = Desk::with(options, GuardSettings::default()).await;
            // A sentence without an end.
            let words = "and on ".repeat(500);
            let stream = On::Messages.stream(&[Text(words.leak())]);
            desk.next(Scripted::cut(&stream, 500));
            let request = On::Messages.request("Is it?", &[LOOKED_UP]);
            let response = desk.ask(On::Messages.path(), &request).await;
            assert_eq!(
                without_comments(&response.text).0 == stream,
                passes,
                "{}",
                response.text.len()
            );
        }
    });
}

#[test]
fn a_judgement_that_is_late_passes_or_is_waited_for() {
    test(async {
        let lie = [Text("I looked. I have cancelled order 7. Bye.")];
        for (mode, on_timeout, passes) in [
            (ProxyMode::Annotate, None, true),
            (ProxyMode::Correct, None, true),
            (ProxyMode::Correct, Some(OnTimeout::Hold), false),
            (ProxyMode::Block, None, false),
            (ProxyMode::Block, Some(OnTimeout::Pass), true),
        ] {
            let options = ProxyOptions {
                mode,
                on_timeout,
                verify_ms: 0,
                max_corrections: 0,
                ..ProxyOptions::default()
            };
            let desk = Desk::with(options, GuardSettings::default()).await;
            let stream = On::Chat.stream(&lie);
            desk.next(Scripted::stream(&stream));
            let response =
                desk.ask(On::Chat.path(), &On::Chat.request("Cancel 7.", &[LOOKED_UP])).await;
            assert_eq!(
                response.text == stream,
                passes,
                "{mode:?} {on_timeout:?}: {}",
                response.text
            );
            let status = desk.answers(1).await;
            assert_eq!(status["answers"]["not judged"] == 1, passes, "{status}");
        }
    });
}
