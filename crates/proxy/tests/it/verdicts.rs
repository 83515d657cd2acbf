//! What happens to what a model says.

use counterfoil_guard::GuardSettings;
use counterfoil_model::{PermitBasis, Role};
use counterfoil_providers::Stop;
use counterfoil_proxy::{Least, ProxyMode, ProxyOptions};
use counterfoil_rules::{Settings, check};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::desk::{Desk, Scripted};
use crate::wires::Says::{Call, Text};
use crate::wires::{On, Says, WIRES};
use crate::{CANCELLED, LOOKED_UP, MODES};
use crate::{json as parsed, test};

const HONEST: [Says; 1] = [Text("Order 7 is shipped. It was not cancelled.")];
const LIE: [Says; 1] = [Text("I looked at order 7. I have cancelled order 7. Have a nice day.")];
const BETTER: [Says; 1] = [Text("Order 7 is shipped, and I have not cancelled it.")];

/// Honest streams, in every known shape.
fn honest(on: On) -> Vec<String> {
    let says: [&[Says]; 6] = [
        &HONEST,
        &[Text("Order 7 is shipped, naïve café ☕ — 完了。 ok.")],
        &[Text("I will look it up."), Call("c1", "get_order", "{\"id\": 8}")],
        &[Call("c1", "get_order", "{\"id\": 8}"), Call("c2", "get_order", "{\"id\": 9}")],
        &[Call("c1", "get_order", "{}")],
        &[Text("")],
    ];
    let mut streams: Vec<String> = says.iter().map(|says| on.stream(says)).collect();
    let plain = on.stream(&HONEST);
    streams.push(plain.replace("\n\n", "\n\n: still there\n\n"));
    streams.push(plain.replace('\n', "\r\n"));
    streams.push(format!("event: odd\ndata: {{\"type\":\"odd\"}}\n\n{plain}"));
    streams.push(plain.replace("data: {", "data:{"));
    streams
}

/// A claim that is split by markup counts as the claim that its reader sees.
#[test]
fn a_claim_with_markup_in_it_is_held() {
    test(async {
        for claim in [
            "I have can<b>celled</b> order 7.",
            "I have <b>cancelled</b> order 7.",
            "I have **can**celled order 7.",
            "I have [cancelled](https://example.com/7) order 7.",
            "I have cancel<!-- not -->led order 7.",
            "I have canc&shy;elled order 7.",
        ] {
            let text: &'static str =
                format!("I looked at order 7. {claim} Have a nice day.").leak();
            let says = [Text(text)];
            for on in WIRES {
                for streams in [false, true] {
                    let desk = Desk::new(ProxyMode::Block).await;
                    let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                    request["stream"] = json!(streams);
                    for _ in 0..4 {
                        desk.next(match streams {
                            true => Scripted::cut(&on.stream(&says), 30),
                            false => Scripted::json(&on.whole(&says)),
                        });
                    }
                    let response = desk.ask(on.path(), &request).await;
                    let part = claim.split("celled").next().unwrap_or(claim);
                    assert!(
                        !response.text.contains(part),
                        "{on:?} {streams} {claim} {}",
                        response.text
                    );
                }
            }
        }
        // Markup alone is not a claim.
        let says = [Text("I looked at <b>order 7</b>: it is [shipped](https://example.com/7).")];
        for on in WIRES {
            let desk = Desk::new(ProxyMode::Block).await;
            desk.next(Scripted::stream(&on.stream(&says)));
            let response = desk.ask(on.path(), &on.request("Where is 7?", &[LOOKED_UP])).await;
            assert!(response.text.contains("shipped"), "{on:?} {}", response.text);
        }
    });
}

/// A claim counts however it is written, if a person can read it.
#[test]
fn a_claim_that_a_person_reads_is_held() {
    const SPACED: &str = "I looked at it.\n\n";
    test(async {
        for claim in [
            "_I have cancelled order 7._",
            "__I have cancelled order 7.__",
            "I have _cancelled_ order 7.",
            "<answer>I have cancelled order 7.</answer>",
            "<response><answer>I have cancelled order 7.</answer></response>",
            "<div><p>I have cancelled order 7.</p></div>",
            "<ul><li>I have cancelled order 7.</li></ul>",
            "<think>ok</think>I have cancelled order 7.",
            "I have can<x-y>celled</x-y> order 7.",
            "I have can&#8203;celled order 7.",
            "I have c&#1072;ncelled order 7.",
            "I have \u{ff43}\u{ff41}\u{ff4e}\u{ff43}\u{ff45}\u{ff4c}\u{ff4c}\u{ff45}\u{ff44} order 7.",
            "I have \u{1d41c}\u{1d41a}\u{1d427}\u{1d41c}\u{1d41e}\u{1d425}\u{1d425}\u{1d41e}\u{1d41d} order 7.",
            "I have can\u{1b}[0mcelled order 7.",
            "I have \u{1b}[1mcancelled\u{1b}[0m order 7.",
            "\u{202e}.7 redro dellecnac evah I\u{202c}",
            "````\nx\n```\n````\nI have cancelled order 7.",
            "``` ok ```\nI have cancelled order 7.",
        ] {
            let text: &'static str = format!("{SPACED}{claim}").leak();
            for on in WIRES {
                for streams in [false, true] {
                    let desk = Desk::new(ProxyMode::Block).await;
                    let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                    request["stream"] = json!(streams);
                    for _ in 0..4 {
                        desk.next(match streams {
                            true => Scripted::cut(&on.stream(&[Text(text)]), 30),
                            false => Scripted::json(&on.whole(&[Text(text)])),
                        });
                    }
                    let status = desk.ask(on.path(), &request).await;
                    let became = desk.answers(1).await["answers"].clone();
                    let held = became.get("held").or(became.get("not judged"));
                    assert!(held.is_some(), "{on:?} {streams} {claim:?} {became} {}", status.text);
                }
            }
        }
    });
}

/// Long code before a claim does not make it code.
#[test]
fn a_claim_after_a_long_code_block_is_held() {
    let code: String = (0..120).map(|at| format!("value_{at} = compute({at})\n\n")).collect();
    let text = format!(
        "The script:\n\n```python\n{code}```\n\nI have cancelled order 7. The rest follows. Bye."
    );
    let honest = text.replace("I have cancelled", "I looked at");
    let says = [[Text(String::leak(text))], [Text(String::leak(honest))]];
    test(async move {
        for on in WIRES {
            for (says, passes) in says.iter().zip([false, true]) {
                let desk = Desk::new(ProxyMode::Block).await;
                let stream = on.stream(says);
                (0..4).for_each(|_| desk.next(Scripted::cut(&stream, 500)));
                let response = desk.ask(on.path(), &on.request("Cancel 7.", &[LOOKED_UP])).await;
                let last = on.read(&response.text).text;
                assert_eq!(last.contains("Bye."), passes, "{on:?} {}", response.text);
                assert!(!last.contains("cancelled order"), "{on:?} {last}");
                assert!(last.contains("value_119"), "{on:?} {last}");
            }
        }
    });
}

/// No part of an answer is passed on unread because a lot precedes it.
#[test]
fn an_answer_longer_than_what_is_read_is_held() {
    let sentence = format!("It is {}fine. ", "very ".repeat(580));
    let long = format!("{}I have cancelled order 7.", sentence.repeat(400));
    let says = [Text(String::leak(long))];
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        for on in WIRES {
            for streams in [false, true] {
                let mut request = on.request("Is it?", &[LOOKED_UP]);
                request["stream"] = json!(streams);
                desk.next(match streams {
                    true => Scripted::cut(&on.stream(&says), 100_000),
                    false => Scripted::json(&on.whole(&says)),
                });
                let response = desk.ask(on.path(), &request).await;
                assert!(!response.text.contains("have cancelled"), "{on:?} {streams}");
            }
        }
    });
}

#[test]
fn what_nothing_is_wrong_with_passes_byte_for_byte() {
    test(async {
        let mut count = 0;
        for mode in MODES {
            // A call that lacks an argument is passed on in modes that only report.
            let desk = Desk::new(mode).await;
            for on in WIRES {
                for (at, stream) in honest(on).iter().enumerate() {
                    if at == 4 && mode != ProxyMode::Observe {
                        continue;
                    }
                    for size in [1, 7, 100_000] {
                        desk.next(Scripted::cut(stream, size));
                        let response =
                            desk.ask(on.path(), &on.request("Is it?", &[LOOKED_UP])).await;
                        assert_eq!(response.text, *stream, "{mode:?} {on:?} {at} {size}");
                        assert_eq!(response.status, 200);
                        count += 1;
                    }
                }
            }
        }
        assert!(count >= 300, "{count}");
    });
}

#[test]
fn what_nothing_is_wrong_with_passes_in_one_piece() {
    test(async {
        for mode in MODES {
            let desk = Desk::new(mode).await;
            for on in WIRES {
                let mut request = on.request("Is it?", &[LOOKED_UP]);
                request["stream"] = json!(false);
                let answer = on.whole(&HONEST);
                desk.next(Scripted::json(&answer));
                let response = desk.ask(on.path(), &request).await;
                assert_eq!(response.text, answer.to_string(), "{mode:?} {on:?}");
                assert_eq!(response.headers["x-odd"], "1");
                assert_eq!(desk.heard().last().unwrap().text, request.to_string());
            }
        }
    });
}

#[test]
fn a_lie_is_annotated_and_the_answer_stays_one() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        for on in WIRES {
            for streams in [true, false] {
                let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(streams);
                desk.next(match streams {
                    true => Scripted::cut(&on.stream(&LIE), 50),
                    false => Scripted::json(&on.whole(&LIE)),
                });
                let response = desk.ask(on.path(), &request).await;
                let reply = on.read(&response.text);
                let Text(claim) = &LIE[0] else { panic!() };
                let note = reply.text.strip_prefix(claim).unwrap();
                assert!(
                    note.contains("I have cancelled order 7") && note.contains("FK010"),
                    "{note}"
                );
                assert_eq!(reply.stop, Stop::End);
                assert_eq!((reply.usage.input, reply.usage.output), (7, 5), "{on:?}");
                let machine = match streams {
                    true => response
                        .text
                        .lines()
                        .find(|line| line.starts_with(": counterfoil"))
                        .unwrap(),
                    false => response.headers["counterfoil-findings"].to_str().unwrap(),
                };
                assert!(machine.contains("\"code\":\"FK010\""), "{machine}");
            }
        }
    });
}

/// The feedback that the model got when it was asked again.
fn feedback(request: &Value) -> String {
    let entries = request.get("messages").or_else(|| request.get("input")).unwrap();
    entries.as_array().unwrap().last().unwrap().to_string()
}

#[test]
fn a_lie_is_corrected_by_the_model() {
    test(async {
        for mode in [ProxyMode::Correct, ProxyMode::Block] {
            let desk = Desk::new(mode).await;
            for on in WIRES {
                for streams in [true, false] {
                    let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                    request["stream"] = json!(streams);
                    for says in [&LIE, &BETTER] {
                        desk.next(match streams {
                            true => Scripted::cut(&on.stream(says), 50),
                            false => Scripted::json(&on.whole(says)),
                        });
                    }
                    let response = desk.ask(on.path(), &request).await;
                    let reply = on.read(&response.text);
                    let Text(better) = &BETTER[0] else { panic!() };
                    let expected = match streams {
                        true => format!("I looked at order 7. \n\n{better}"),
                        false => (*better).to_owned(),
                    };
                    assert_eq!(reply.text, expected, "{on:?}");
                    let heard = desk.heard();
                    let again = feedback(&heard.last().unwrap().body);
                    assert!(again.contains("FK010"), "{again}");
                    assert_eq!(again.contains("I looked at order 7"), streams, "{again}");
                    assert!(!response.text.contains("have cancelled"), "{}", response.text);
                    if !streams {
                        // The findings are about the answer that was sent, not about the one that
                        // was not.
                        let found =
                            parsed(response.headers["counterfoil-findings"].to_str().unwrap());
                        assert_eq!(found, json!({ "findings": [], "refused_calls": [] }));
                        assert_eq!(response.headers["counterfoil-corrections"], "1");
                    }
                }
            }
        }
    });
}

#[test]
fn what_gets_no_better_does_not_pass() {
    test(async {
        for on in WIRES {
            for streams in [true, false] {
                for mode in [ProxyMode::Correct, ProxyMode::Block] {
                    let desk = Desk::new(mode).await;
                    let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                    request["stream"] = json!(streams);
                    for _ in 0..2 {
                        desk.next(match streams {
                            true => Scripted::cut(&on.stream(&LIE), 50),
                            false => Scripted::json(&on.whole(&LIE)),
                        });
                    }
                    let response = desk.ask(on.path(), &request).await;
                    let reply = on.read(&response.text);
                    assert!(reply.text.starts_with("I looked at order 7."), "{}", reply.text);
                    let blocks = mode == ProxyMode::Block;
                    assert_eq!(!reply.text.contains("have cancelled order 7"), blocks);
                    assert_eq!(reply.text.contains("held back"), blocks, "{}", reply.text);
                    let status = desk.answers(1).await;
                    let became = if blocks { "held" } else { "annotated" };
                    assert_eq!(status["answers"][became], 1, "{status}");
                    assert_eq!(status["corrections"], 1);
                }
            }
        }
    });
}

#[test]
fn what_is_before_a_lie_flows_at_once() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        let mut scripted = Scripted::stream("");
        // One word per piece, slowly.
        scripted.pieces = On::Chat
            .stream(&LIE)
            .split_inclusive("\n\n")
            .map(|event| event.to_owned().into())
            .collect();
        scripted.pause = std::time::Duration::from_millis(30);
        desk.next(scripted);
        let request = On::Chat.request("Cancel 7.", &[LOOKED_UP]).to_string();
        let mut body = desk.send(On::Chat.path(), &[], &request).await.into_body();
        let began = std::time::Instant::now();
        let (mut text, mut first) = (String::new(), None);
        while let Some(frame) = body.frame().await {
            text.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
            if first.is_none() && text.contains("\"order \"") {
                first = Some(began.elapsed());
            }
        }
        // The first sentence arrives before the second one is written.
        assert!(first.unwrap() < began.elapsed() / 2, "{first:?} of {:?}", began.elapsed());
        assert!(!text.contains("cancelled "), "{text}");
    });
}

#[test]
fn an_answer_in_a_form_keeps_it() {
    test(async {
        let lie = [Text("{\"done\": \"I have cancelled order 7.\"}")];
        for on in WIRES {
            for (mode, streams) in MODES.iter().flat_map(|mode| [(*mode, true), (*mode, false)]) {
                let desk = Desk::new(mode).await;
                let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(streams);
                match on {
                    On::Chat => request["response_format"] = json!({ "type": "json_object" }),
                    On::Responses => {
                        request["text"] = json!({ "format": { "type": "json_object" } });
                    }
                    On::Messages => request["output_format"] = json!({ "type": "json_schema" }),
                }
                for _ in 0..2 {
                    desk.next(match streams {
                        true => Scripted::cut(&on.stream(&lie), 50),
                        false => Scripted::json(&on.whole(&lie)),
                    });
                }
                let response = desk.ask(on.path(), &request).await;
                let Text(claim) = &lie[0] else { panic!() };
                let reply = on.read(&response.text);
                let found = desk.answers(1).await["findings"].to_string();
                // Either the requested format, or a refusal in the wire's own format.
                let refused = response.text.contains("refusal");
                assert!(reply.text == *claim || refused, "{mode:?} {on:?}: {}", response.text);
                assert!(found.contains("FK010"), "{mode:?} {on:?} {found}");
                assert_eq!(refused, mode == ProxyMode::Block, "{on:?}: {}", response.text);
            }
        }
    });
}

#[test]
fn what_a_client_reports_is_evidence() {
    test(async {
        let claim = [Text("I have cancelled order 7.")];
        for on in WIRES {
            let desk = Desk::new(ProxyMode::Block).await;
            desk.next(Scripted::stream(&on.stream(&claim)));
            let request = on.request("Cancel 7.", &[LOOKED_UP, CANCELLED]);
            let response = desk.ask(on.path(), &request).await;
            assert_eq!(response.text, on.stream(&claim), "{on:?}");
            desk.answers(1).await;
            let receipts = desk.receipts();
            let tools: Vec<&str> = receipts.iter().map(|receipt| receipt.tool.as_str()).collect();
            assert_eq!(tools, ["get_order", "cancel_order"]);
            assert_eq!(receipts[0].permit, Some(PermitBasis::Reported), "{on:?}");
            let recorded = desk.recorded().await;
            let texts: Vec<&str> = recorded
                .messages
                .iter()
                .map(|message| message.text.as_str())
                .filter(|text| !text.is_empty())
                .collect();
            assert_eq!(texts, ["Cancel 7.", "I have cancelled order 7."]);
        }
    });
}

/// A claim that is not proven never holds an answer back, not even at level `warning`.
#[test]
fn what_is_not_proven_is_not_held_back() {
    test(async {
        let options = ProxyOptions {
            mode: ProxyMode::Block,
            least: Least::Warning,
            max_corrections: 0,
            ..ProxyOptions::default()
        };
        let desk = Desk::with(options, GuardSettings::default()).await;
        let doubtful = [Text("Order 7 arrives in 48 days and costs 912.55 euros.")];
        desk.next(Scripted::stream(&On::Chat.stream(&doubtful)));
        let response = desk.ask(On::Chat.path(), &On::Chat.request("When?", &[LOOKED_UP])).await;
        assert!(response.text.contains("912.55"), "{}", response.text);
        assert_eq!(desk.heard().len(), 1);
    });
}

/// The findings of a replay of the only session, and the agent's words.
async fn replayed(desk: &Desk) -> (Vec<&'static str>, Vec<String>) {
    let recorded = desk.recorded().await;
    let report = check(&recorded, &Settings::default());
    let answers = recorded.messages.iter().filter(|message| message.role != Role::User);
    let answers = answers.map(|message| message.text.clone()).filter(|text| !text.is_empty());
    (report.findings.iter().map(|finding| finding.code.0).collect(), answers.collect())
}

#[test]
fn a_replay_of_the_record_finds_the_same() {
    test(async {
        let Text(lie) = LIE[0] else { panic!() };
        let Text(better) = BETTER[0] else { panic!() };
        for (mode, second, expected) in [
            (ProxyMode::Observe, &LIE, vec![lie.to_owned()]),
            (ProxyMode::Annotate, &LIE, vec![lie.to_owned()]),
            (ProxyMode::Block, &LIE, vec![lie.to_owned(), "The answer was held back.".to_owned()]),
            (
                ProxyMode::Correct,
                &BETTER,
                vec![
                    lie.to_owned(),
                    "The answer was held back.".to_owned(),
                    format!("I looked at order 7. {better}"),
                ],
            ),
        ] {
            let desk = Desk::new(mode).await;
            desk.next(Scripted::stream(&On::Chat.stream(&LIE)));
            desk.next(Scripted::stream(&On::Chat.stream(second)));
            desk.ask(On::Chat.path(), &On::Chat.request("Cancel 7.", &[LOOKED_UP])).await;
            desk.answers(1).await;
            let (found, answers) = replayed(&desk).await;
            assert_eq!(found, ["FK010"], "{mode:?} {answers:?}");
            let answers: Vec<String> =
                answers.iter().map(|text| text.replace("\n\n", "")).collect();
            assert_eq!(answers, expected, "{mode:?}");
        }
    });
}

#[test]
fn a_footnote_names_the_receipt() {
    test(async {
        let desk = Desk::new(ProxyMode::Annotate).await;
        let failed = "Error: order 7 is shipped already and cannot be cancelled";
        let request =
            On::Chat.request("Cancel 7.", &[("c", "cancel_order", "{\"id\": 7}", failed)]);
        desk.next(Scripted::stream(&On::Chat.stream(&[Text("I have cancelled order 7.")])));
        let response = desk.ask(On::Chat.path(), &request).await;
        let receipt = desk.receipts().remove(0);
        assert!(response.text.contains(&receipt.execution_id), "{receipt:?}: {}", response.text);
        assert!(response.text.contains("as reported by the client"), "{}", response.text);
    });
}
