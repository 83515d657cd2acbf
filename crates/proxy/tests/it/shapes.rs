//! Answers that clients read in different ways because one part has two sources.

use counterfoil_guard::{GuardOptions, GuardSettings};
use counterfoil_proxy::{ProxyMode, ProxyOptions};
use serde_json::{Value, json};

use crate::LOOKED_UP;
use crate::desk::{Desk, Scripted};
use crate::faults::without_comments;
use crate::test;
use crate::wires::Says::{Call, Text};
use crate::wires::{On, WIRES};

const LIE: &str = "I have cancelled order 7.";

/// What must not reach any client: the false claim without its "not", and the call that a rule
/// denies.
const BAD: [&str; 4] = ["cancelled", "取消", "\"id\":\"13\"", "\\\"id\\\":\\\"13\\\""];

fn events(all: &[Value]) -> String {
    let event = |value: &Value| match value.get("type").and_then(Value::as_str) {
        Some(kind) => format!("event: {kind}\ndata: {value}\n\n"),
        None => format!("data: {value}\n\n"),
    };
    all.iter().map(event).collect()
}

fn chunk(choices: Value) -> Value {
    json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": choices })
}

fn delta(delta: Value) -> Value {
    chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]))
}

fn chat(all: &[Value]) -> String {
    let end = chunk(json!([{ "index": 0, "delta": {}, "finish_reason": "stop" }]));
    events(all) + &events(&[end]) + "data: [DONE]\n\n"
}

fn call_part(arguments: &str) -> Value {
    json!({ "index": 0, "id": "c1", "type": "function",
        "function": { "name": "get_order", "arguments": arguments } })
}

fn more(arguments: &str) -> Value {
    delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] }))
}

/// Chunks that some client reads differently than one that joins everything.
fn chats() -> Vec<String> {
    let say = |text: &str| delta(json!({ "content": text }));
    let rest = say("cancelled order 7.");
    let pieces = |part: &dyn Fn(&str) -> Value| {
        let all: Vec<Value> = LIE.split_inclusive(' ').map(part).collect();
        chat(&all)
    };
    let mut doubled = vec![
        chat(&[delta(json!({ "content": "I have ", "refusal": "not " })), rest.clone()]),
        chat(&[say("I have "), delta(json!({ "refusal": "not " })), rest.clone()]),
        chat(&[
            chunk(json!([{ "index": 0, "delta": { "content": "I have " } },
                { "index": 0, "delta": { "content": "not " } }])),
            rest.clone(),
        ]),
        chat(&[
            chunk(json!([{ "index": 0, "delta": { "content": "I have " },
                "message": { "content": "not " } }])),
            rest.clone(),
        ]),
        chat(&[say("I have can"), say("\u{200b}celled order 7.")]),
        chat(&[say("I have c\u{430}ncelled order 7.")]),
        chat(&[say("Hello."), delta(json!({ "audio": { "id": "a", "transcript": LIE } }))]),
        pieces(&|word| chunk(json!([{ "index": 0, "delta": {}, "text": word }]))),
        pieces(&|word| delta(json!({ "content": [{ "type": "output_text", "text": word }] }))),
        pieces(&|word| delta(json!({ "words": word }))),
        chat(&[delta(json!({ "words": "我已经取消了订单7。" }))]),
        chat(&["我已", "经取", "消了", "订单"].map(|piece| delta(json!({ "words": piece })))),
        chat(&[delta(json!({ "content": "Hi.", "Content": LIE }))]),
        // A client that takes the first of two members.
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I have cancelled it.\",\
         \"content\":\"No.\"}}]}\n\ndata: [DONE]\n\n"
            .to_owned(),
        // A client that skips events with this name.
        "event: thread.x\n".to_owned() + &chat(&[say("I have not "), rest]),
    ];
    let begin = |arguments: &str| delta(json!({ "tool_calls": [call_part(arguments)] }));
    let mut legacy = begin("{\"id\":\"1");
    legacy["choices"][0]["delta"]["function_call"] = json!({ "arguments": "0" });
    let mut message = begin("{\"id\":\"1");
    message["choices"][0]["message"] =
        json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "0" } }] });
    let mut second = begin("{\"id\":\"1");
    second["choices"].as_array_mut().unwrap().push(json!({ "index": 0,
        "delta": { "tool_calls": [{ "index": 0, "function": { "arguments": "0" } }] } }));
    let mut custom = begin("{\"id\":\"1");
    custom["choices"][0]["delta"]["tool_calls"][0]["custom"] = json!({ "input": "0" });
    for first in [legacy, message, second, custom] {
        doubled.push(chat(&[first, more("3\"}")]));
    }
    let other = json!({ "index": 0, "id": "c2", "function": { "arguments": "3\"}" } });
    doubled.push(chat(&[begin("{\"id\":\"1"), delta(json!({ "tool_calls": [other] }))]));
    doubled
}

fn block(at: usize, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": at, "content_block": block })
}

fn block_delta(at: usize, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": at, "delta": delta })
}

fn message(all: &[Value]) -> String {
    let start = json!({ "type": "message_start", "message": { "id": "m", "type": "message",
        "role": "assistant", "model": "m", "content": [], "usage": { "input_tokens": 1 } } });
    let end = json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" },
        "usage": { "output_tokens": 1 } });
    events(&[start]) + &events(all) + &events(&[end, json!({ "type": "message_stop" })])
}

fn messages() -> Vec<String> {
    let tool = |input: Value| json!({ "type": "tool_use", "id": "t1", "name": "get_order", "input": input });
    let input = |at: usize, text: &str| {
        block_delta(at, json!({ "type": "input_json_delta", "partial_json": text }))
    };
    let say =
        |at: usize, text: &str| block_delta(at, json!({ "type": "text_delta", "text": text }));
    let stop = |at: usize| json!({ "type": "content_block_stop", "index": at });
    let text = || json!({ "type": "text", "text": "" });
    let call =
        |at: usize, arguments: &str| [block(at, tool(json!({}))), input(at, arguments), stop(at)];
    let (bad, good) = (call(0, "{\"id\":\"13\"}"), call(0, "{\"id\":\"7\"}"));
    let passed_over = "event: ping\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":\
        {\"type\":\"text_delta\",\"text\":\"not \"}}\n\n";
    let stream =
        message(&[block(0, text()), say(0, "I have "), say(0, "cancelled order 7."), stop(0)]);
    // After the first words.
    let (before, after) = stream.split_at(stream.match_indices("\n\n").nth(2).unwrap().0 + 2);
    vec![
        message(&[bad.clone(), good.clone()].concat()),
        message(&[block(0, tool(json!({ "id": "13" }))), input(0, "{\"id\":\"7\"}"), stop(0)]),
        // A client joins blocks in order, whatever their index.
        message(&[
            block(1, tool(json!({}))),
            block(0, tool(json!({}))),
            input(1, "{\"id\":\"13\"}"),
        ]),
        message(&[block(0, tool(json!({}))), stop(0), input(0, "{\"id\":\"13\"}")]),
        message(&[
            block(0, json!({ "type": "text", "text": "I have not " })),
            say(0, "cancelled it."),
        ]),
        message(&[
            block(0, text()),
            say(0, "Hi."),
            stop(0),
            block(
                1,
                json!({
            "type": "web_search_tool_result", "content": [{ "type": "text", "text": LIE }] }),
            ),
        ]),
        format!("{before}{passed_over}{after}"),
    ]
}

fn responses() -> Vec<String> {
    let response = |output: Value, status: &str| json!({ "id": "r", "object": "response", "status": status, "model": "m", "output": output });
    let stream = |all: &[Value], output: Value| {
        let begun =
            json!({ "type": "response.created", "response": response(json!([]), "in_progress") });
        let end =
            json!({ "type": "response.completed", "response": response(output, "completed") });
        events(&[begun]) + &events(all) + &events(&[end])
    };
    let call = |arguments: &str| {
        json!({ "type": "function_call", "id": "f1", "call_id": "c1", "name": "get_order",
            "arguments": arguments })
    };
    let item = |kind: &str, item: Value| json!({ "type": format!("response.output_item.{kind}"), "output_index": 0, "item": item });
    let args = |text: &str| {
        json!({ "type": "response.function_call_arguments.delta", "item_id": "f1",
            "output_index": 0, "delta": text })
    };
    let (bad, good) = ("{\"id\":\"13\"}", "{\"id\":\"7\"}");
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    let message_item = |content: Value| json!({ "type": "message", "id": "m0", "role": "assistant", "content": content });
    let say = |kind: &str, at: usize, text: &str| {
        json!({ "type": format!("response.{kind}.delta"), "item_id": "m0", "output_index": 0,
            "content_index": at, "delta": text })
    };
    let whole = json!([message_item(json!([part("I have not cancelled order 7.")]))]);
    vec![
        stream(&[item("added", call("")), args(bad), item("done", call(good))], json!([])),
        stream(
            &[
                item("added", call("")),
                args(bad),
                item("added", call("")),
                args(good),
                item("done", call(good)),
            ],
            json!([]),
        ),
        stream(
            &[item("added", call("")), args(good), item("done", call(good))],
            json!([call(bad)]),
        ),
        stream(&[item("added", call(bad)), args(good), item("done", call(good))], json!([])),
        stream(
            &[
                item("added", message_item(json!([]))),
                say("output_text", 0, "I have "),
                say("refusal", 1, "not "),
                say("output_text", 0, "cancelled order 7."),
            ],
            whole.clone(),
        ),
        stream(
            &[
                item("added", message_item(json!([]))),
                say("output_text", 0, "I have not cancelled order 7."),
                json!({ "type": "response.output_text.done", "output_index": 0, "item_id": "m0",
                    "content_index": 0, "text": LIE }),
            ],
            whole,
        ),
        stream(
            &LIE.split(' ')
                .map(|word| json!({ "type": "response.words.delta", "delta": word }))
                .collect::<Vec<_>>(),
            json!([]),
        ),
    ]
}

fn wholes() -> Vec<(On, Value)> {
    let mut all = Vec::new();
    let mut odd = |on: On, change: &dyn Fn(&mut Value)| {
        let mut answer = on.whole(&[Text("It is not so that I have cancelled order 7.")]);
        change(&mut answer);
        all.push((on, answer));
    };
    odd(On::Chat, &|a| {
        a["choices"][0]["message"]["content"] = json!(LIE);
        a["choices"][0]["delta"] = json!({ "content": "I cannot say that " });
    });
    odd(On::Chat, &|a| {
        a["choices"][0]["message"]["content"] = json!(LIE);
        a["choices"][0]["message"]["refusal"] = json!(" It is not true that");
    });
    odd(On::Chat, &|a| {
        a["choices"][0]["message"] = json!({ "role": "assistant", "content": "Hi.",
            "audio": { "transcript": "我已经取消了订单7。" } });
    });
    odd(On::Responses, &|a| a["output_text"] = json!(LIE));
    odd(On::Responses, &|a| {
        let part = json!({ "type": "summary_text", "text": LIE });
        a["output"][0]["content"].as_array_mut().unwrap().push(part);
    });
    odd(On::Responses, &|a| {
        let item =
            json!({ "type": "note_call", "content": [{ "type": "output_text", "text": LIE }] });
        a["output"].as_array_mut().unwrap().push(item);
    });
    odd(On::Responses, &|a| {
        let content = json!([{ "type": "output_text", "text": LIE }]);
        let item = json!({ "type": "computer_call", "call_id": "c", "content": content });
        a["output"].as_array_mut().unwrap().push(item);
    });
    // A call that the client is asked to approve, and one at an unknown place.
    odd(On::Responses, &|a| {
        let item = json!({ "type": "mcp_approval_request", "id": "m", "server_label": "s",
            "name": "get_order", "arguments": "{\"id\":\"13\"}" });
        a["output"].as_array_mut().unwrap().push(item);
    });
    odd(On::Chat, &|a| {
        a["choices"][0]["message"]["x"] = json!([{ "name": "f", "arguments": "{\"id\":\"13\"}" }]);
    });
    odd(On::Messages, &|a| {
        a["x"] = json!({ "tool": { "name": "f", "input": { "id": "13" } } });
    });
    odd(On::Messages, &|a| {
        let result = json!({ "type": "web_search_tool_result",
            "content": [{ "type": "text", "text": LIE }] });
        a["content"].as_array_mut().unwrap().push(result);
    });
    all
}

/// A request in which orders have textual ids, because rules match texts.
fn request_body(on: On, user: &str, done: &[(&str, &str, &str, &str)]) -> Value {
    let request = on.request(user, done).to_string();
    serde_json::from_str(&request.replace("\"integer\"", "\"string\"")).unwrap()
}

/// A rule denies order 13.
fn denying() -> GuardSettings {
    let options: Value = json!({ "policy": {
        "enabled": true, "default_effect": "allow",
        "rules": [{ "name": "no", "effect": "deny", "tool": "*", "args_match": "^13$" }],
    } });
    let tools = serde_json::from_value(options).unwrap();
    GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap()
}

fn streams() -> Vec<(On, String)> {
    let of = |on: On, all: Vec<String>| all.into_iter().map(move |stream| (on, stream));
    of(On::Chat, chats())
        .chain(of(On::Messages, messages()))
        .chain(of(On::Responses, responses()))
        .collect()
}

async fn desk(mode: ProxyMode) -> Desk {
    let options =
        ProxyOptions { mode, max_corrections: 0, verify_ms: 10_000, ..ProxyOptions::default() };
    Desk::with(options, denying()).await
}

/// Whether it contains nothing bad.
fn is_clean(text: &str) -> bool {
    !BAD.iter().any(|bad| text.contains(bad))
}

#[test]
fn what_has_two_sources_is_held() {
    test(async {
        for (on, stream) in streams() {
            let desk = desk(ProxyMode::Block).await;
            desk.next(Scripted::stream(&stream));
            let response = desk.ask(on.path(), &request_body(on, "Cancel 7.", &[LOOKED_UP])).await;
            assert!(is_clean(&response.text), "{on:?}\n{stream}\n=>\n{}", response.text);
            assert!(
                response.text.contains("could not be judged"),
                "{on:?}\n{stream}\n=>\n{}",
                response.text
            );
        }
        for (on, answer) in wholes() {
            let desk = desk(ProxyMode::Block).await;
            desk.next(Scripted::json(&answer));
            let mut request = request_body(on, "Cancel 7.", &[LOOKED_UP]);
            request["stream"] = json!(false);
            let response = desk.ask(on.path(), &request).await;
            assert_eq!(response.status, 502, "{answer}\n=>\n{}", response.text);
            assert!(is_clean(&response.text), "{answer}\n=>\n{}", response.text);
        }
    });
}

#[test]
fn what_has_two_sources_passes_elsewhere_with_a_note() {
    test(async {
        for mode in [ProxyMode::Annotate, ProxyMode::Correct] {
            for (on, stream) in streams() {
                let desk = desk(mode).await;
                desk.next(Scripted::stream(&stream));
                let response =
                    desk.ask(on.path(), &request_body(on, "Cancel 7.", &[LOOKED_UP])).await;
                let own = without_comments(&response.text).1;
                assert!(
                    own.contains("\"not_judged\":"),
                    "{mode:?} {on:?}\n{stream}\n=>\n{}",
                    response.text
                );
            }
            for (on, answer) in wholes() {
                let desk = desk(mode).await;
                desk.next(Scripted::json(&answer));
                let mut request = request_body(on, "Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(false);
                let response = desk.ask(on.path(), &request).await;
                let found = response.headers["counterfoil-findings"].to_str().unwrap();
                assert!(found.contains("\"not_judged\":"), "{answer}: {found}");
                assert!(
                    response.text.contains("was not checked"),
                    "{answer}\n=>\n{}",
                    response.text
                );
            }
        }
    });
}

/// Complete chat answers that repeat a false claim or a denied call in another member.
fn repeated() -> Vec<Value> {
    let tokens = |text: &str| {
        let tokens = text.split_inclusive(' ').map(|token| json!({ "token": token }));
        json!({ "content": tokens.collect::<Vec<Value>>() })
    };
    let mut all = Vec::new();
    for member in ["note_reason", "finish_reason", "object", "status", "trace_id"] {
        let mut answer = On::Chat.whole(&[Text("Hi.")]);
        answer["choices"][0]["message"][member] = json!(LIE);
        all.push(answer);
    }
    let mut answer = On::Chat.whole(&[Text(LIE)]);
    answer["choices"][0]["logprobs"] = tokens(LIE);
    answer["choices"][0]["message"]["parsed"] = json!({ "answer": LIE });
    all.push(answer);
    let arguments = "{\"id\":\"13\"}";
    let mut answer = On::Chat.whole(&[Text("Hi."), Call("c1", "get_order", arguments)]);
    answer["choices"][0]["logprobs"] = tokens(arguments);
    all.push(answer);
    all
}

#[test]
fn nothing_that_is_withheld_stays_in_another_form() {
    test(async {
        for answer in repeated() {
            let desk = desk(ProxyMode::Block).await;
            desk.next(Scripted::json(&answer));
            let mut request = request_body(On::Chat, "Cancel 7.", &[LOOKED_UP]);
            request["stream"] = json!(false);
            let response = desk.ask(On::Chat.path(), &request).await;
            assert!(is_clean(&response.text), "{answer}\n=>\n{}", response.text);
        }
    });
}

#[test]
fn one_source_is_judged() {
    test(async {
        // The same rule and the same false claim, undisguised.
        for on in WIRES {
            for says in [[Call("c1", "get_order", "{\"id\":\"13\"}")], [Text(LIE)]] {
                let desk = desk(ProxyMode::Block).await;
                desk.next(Scripted::stream(&on.stream(&says)));
                let response =
                    desk.ask(on.path(), &request_body(on, "Cancel 7.", &[LOOKED_UP])).await;
                let held = response.text.contains("Counterfoil held back");
                assert!(is_clean(&response.text) && held, "{on:?}: {}", response.text);
            }
        }
        // Spoken words count.
        let spoken = |text: &str| {
            let audio = |part: Value| delta(json!({ "audio": part }));
            let words = text.split_inclusive(' ').map(|word| audio(json!({ "transcript": word })));
            let mut all = vec![audio(json!({ "id": "a", "data": "c291bmQ=" }))];
            all.extend(words);
            chat(&all)
        };
        for (text, passes) in [(LIE, false), ("Order 7 is shipped.", true)] {
            let desk = desk(ProxyMode::Block).await;
            desk.next(Scripted::stream(&spoken(text)));
            let response =
                desk.ask(On::Chat.path(), &request_body(On::Chat, "Is it?", &[LOOKED_UP])).await;
            assert_eq!(response.text == spoken(text), passes, "{}", response.text);
            // Sound is not passed on before its words are judged.
            assert_eq!(response.text.contains("c291bmQ="), passes, "{}", response.text);
            assert!(passes || is_clean(&response.text), "{}", response.text);
        }
    });
}

#[test]
fn what_a_server_says_when_it_gives_up_is_judged() {
    test(async {
        let gone = |status: u16, message: &str| {
            Scripted::status(status, &json!({ "error": { "message": message } }).to_string())
        };
        let call = On::Chat.whole(&[Call("c1", "get_order", "{\"id\":\"13\"}")]).to_string();
        for mode in [ProxyMode::Correct, ProxyMode::Block] {
            for (scripted, status, passes) in [
                (gone(400, "The model is not known."), 400, true),
                (gone(400, LIE), 400, false),
                (gone(302, "no"), 502, false),
                (Scripted::status(400, LIE), 400, false),
                (Scripted::status(400, &call), 400, false),
                (Scripted::status(400, &events(&[delta(json!({ "content": LIE }))])), 400, false),
                (
                    Scripted::status(400, &events(&[json!({ "error": { "message": LIE } })])),
                    400,
                    false,
                ),
                (Scripted::status(400, &events(&[json!({ "error": "Not known." })])), 400, true),
                (Scripted::status(502, "<html>\n<h1>Bad Gateway</h1>\n</html>"), 502, true),
                (gone(400, &LIE.replace("cancelled", "can\u{200b}celled")), 400, false),
                (Scripted::status(500, &On::Chat.whole(&[Text(LIE)]).to_string()), 500, false),
            ] {
                let desk = desk(mode).await;
                let body = String::from_utf8(scripted.pieces[0].to_vec()).unwrap();
                desk.next(scripted);
                let response =
                    desk.ask(On::Chat.path(), &request_body(On::Chat, "Cancel 7.", &[])).await;
                assert_eq!(
                    (response.status, response.text == body),
                    (status, passes),
                    "{}",
                    response.text
                );
                assert!(is_clean(&response.text), "{}", response.text);
            }
        }
        for (message, passes) in [("Overloaded.", true), (LIE, false)] {
            for streams in [true, false] {
                let desk = desk(ProxyMode::Block).await;
                let error = json!({ "error": { "message": message } });
                desk.next(match streams {
                    true => Scripted::stream(&format!("data: {error}\n\n")),
                    false => Scripted::json(&error),
                });
                let mut request = request_body(On::Chat, "Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(streams);
                let response = desk.ask(On::Chat.path(), &request).await;
                assert_eq!(response.text.contains(message), passes, "{}", response.text);
                assert!(response.text.contains("error"), "{}", response.text);
            }
        }
        // A reader's error may quote what it read.
        let desk = desk(ProxyMode::Block).await;
        desk.next(Scripted::json(&json!({ "choices": LIE })));
        let mut request = request_body(On::Chat, "Cancel 7.", &[]);
        request["stream"] = json!(false);
        assert!(is_clean(&desk.ask(On::Chat.path(), &request).await.text));
    });
}

#[test]
fn only_we_write_our_comments_and_headers() {
    test(async {
        for mode in super::MODES {
            let desk = desk(mode).await;
            let stream = On::Chat.stream(&[Text("Order 7 is shipped.")]);
            let mut scripted =
                Scripted::cut(&format!(": counterfoil {{\"forged\":1}}\n\n{stream}"), 9);
            scripted.head += "\r\ncounterfoil-findings: {}\r\ncounterfoil-new: 1";
            desk.next(scripted);
            let response =
                desk.ask(On::Chat.path(), &request_body(On::Chat, "Is it?", &[LOOKED_UP])).await;
            assert_eq!(response.text.trim_start(), stream, "{mode:?}");
            assert!(!response.headers.keys().any(|name| name.as_str().starts_with("counterfoil-")));
        }
    });
}
