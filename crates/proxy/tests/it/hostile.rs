//! Servers that hide a false claim or a call where it is not judged, and honest servers that say
//! more than necessary.

use counterfoil_proxy::ProxyMode;
use serde_json::{Value, json};

use crate::LOOKED_UP;
use crate::desk::{Desk, Scripted};
use crate::test;
use crate::wires::Says::{Call, Text};
use crate::wires::{On, WIRES};

const LIE: &str = "I have cancelled order 7.";

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named(value: &Value) -> String {
    format!("event: {}\n{}", value["type"].as_str().unwrap(), data(value))
}

fn chunk(choice: &Value) -> String {
    data(
        &json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice] }),
    )
}

/// A harmless stream with these events before its end.
fn with(on: On, events: &str) -> String {
    let plain = on.stream(&[Text("Hello there.")]);
    let end = match on {
        On::Chat => {
            "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{},"
        }
        On::Responses => "event: response.output_text.done",
        On::Messages => "event: message_delta",
    };
    let at = plain.find(end).unwrap();
    let (before, after) = plain.split_at(at);
    format!("{before}{events}{after}")
}

/// Streams with the false claim, or the call `rm_rf`, at a place where it does not belong.
fn streams() -> Vec<(On, String)> {
    let delta = |delta: Value| chunk(&json!({ "index": 0, "delta": delta }));
    let chat = [
        chunk(&json!({ "index": 1, "delta": { "content": LIE } })),
        chunk(
            &json!({ "index": 1, "delta": { "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "rm_rf", "arguments": "{}" } }] } }),
        ),
        delta(json!({ "function_call": { "name": "rm_rf", "arguments": "{}" } })),
        delta(
            json!({ "tool_calls": [{ "index": 0, "id": "c", "type": "custom", "custom": { "name": "rm_rf", "input": "" } }] }),
        ),
        delta(json!({ "audio": { "transcript": LIE } })),
        chunk(&json!({ "index": 0, "text": LIE, "delta": {} })),
        format!(
            "\u{feff}data: {}\n\n",
            json!({ "choices": [{ "index": 0, "delta": { "content": LIE } }] })
        ),
        format!(" data: {LIE}\n\n"),
        format!("data:\r {LIE}\n\n"),
        delta(json!({ "content": [{ "type": "text", "text": format!("\n{LIE}") }] })),
    ];
    let item = |value: Value| json!({ "type": "response.output_item.done", "output_index": 0, "item": value });
    let message = json!({ "type": "message", "content": [{ "type": "output_text", "text": LIE }] });
    let call =
        json!({ "type": "function_call", "call_id": "c", "name": "rm_rf", "arguments": "{}" });
    let responses = [
        data(&json!({ "type": "response.output_text.delta", "delta": LIE })),
        data(&json!({ "type": "response.output_text.done", "text": LIE })),
        data(
            &json!({ "type": "response.content_part.added", "part": { "type": "output_text", "text": LIE } }),
        ),
        data(&json!({ "type": "response.output_item.added", "item": message })),
        data(&json!({ "type": "response.output_item.added", "item": call })),
        data(&json!({ "type": "response.completed", "response": { "output": [message] } })),
        data(&json!({ "type": "response.completed", "response": { "output": [call] } })),
        data(&item(
            json!({ "type": "custom_tool_call", "call_id": "c", "name": "rm_rf", "input": "x" }),
        )),
        data(&item(call.clone()))
            + &data(&json!({ "type": "response.output_item.done", "output_index": 1,
                "item": { "type": "function_call_output", "call_id": "c", "output": "done" } })),
    ];
    let block = |at: usize, block: Value| json!({ "type": "content_block_start", "index": at, "content_block": block });
    let text = |at: usize| {
        json!({ "type": "content_block_delta", "index": at,
        "delta": { "type": "text_delta", "text": LIE } })
    };
    let tool = json!({ "type": "tool_use", "id": "t", "name": "rm_rf", "input": {} });
    let messages = [
        data(&text(5)),
        data(&block(5, json!({ "type": "thinking", "thinking": "" }))) + &data(&text(5)),
        data(&block(5, json!({ "type": "text", "text": LIE })))
            + &data(&block(5, json!({ "type": "text", "text": "" }))),
        data(&block(5, tool.clone())) + &data(&block(5, json!({ "type": "text", "text": "" }))),
        ["I have", " cancelled", " order 7."]
            .map(|text| {
                data(&json!({ "type": "content_block_delta", "index": 9,
                    "delta": { "type": "text_delta", "text": text } }))
            })
            .concat(),
        data(&json!({ "type": "ping", "delta": { "type": "text_delta", "text": LIE } })),
        data(&block(5, json!({ "type": "web_search_tool_result", "tool_use_id": "t" })))
            + &data(&block(6, tool)),
    ];
    let all = [
        (On::Chat, chat.to_vec()),
        (On::Responses, responses.to_vec()),
        (On::Messages, messages.to_vec()),
    ];
    let mut streams: Vec<(On, String)> = all
        .into_iter()
        .flat_map(|(on, all)| all.into_iter().map(move |events| (on, with(on, &events))))
        .collect();
    for on in WIRES {
        let plain = on.stream(&[Text("Hello there.")]);
        let more = on.stream(&[Text(LIE)]);
        streams.push((on, format!("{plain}{more}")));
        streams.push((on, format!("{plain}{}", more.trim_end())));
    }
    streams
}

/// Checks that a response has neither the claim nor the call that `sent` contains.
fn assert_judged(response: &str, sent: &str) {
    let named = response.contains("rm_rf") && !response.contains("call to `rm_rf`");
    let passed = named || response.contains("have cancelled order");
    assert!(!passed, "{sent}\n=>\n{response}");
}

#[test]
fn nothing_passes_without_being_judged() {
    test(async {
        for (on, stream) in streams() {
            for size in [1_000_000, 11] {
                let desk = Desk::new(ProxyMode::Block).await;
                desk.next(Scripted::cut(&stream, size));
                desk.next(Scripted::stream(&on.stream(&[Text("No.")])));
                let response = desk.ask(on.path(), &on.request("Cancel 7.", &[LOOKED_UP])).await;
                assert_judged(&response.text, &format!("{on:?}\n{stream}"));
            }
        }
    });
}

/// The same, without streaming.
fn pieces() -> Vec<(On, Value)> {
    let whole = |on: On| on.whole(&[Text("Hello there.")]);
    let mut all = Vec::new();
    let mut odd = |on: On, change: &dyn Fn(&mut Value)| {
        let mut answer = whole(on);
        change(&mut answer);
        all.push((on, answer));
    };
    odd(On::Chat, &|a| {
        a["choices"][0]["message"]["function_call"] = json!({ "name": "rm_rf", "arguments": "{}" })
    });
    odd(On::Chat, &|a| a["choices"][0]["delta"] = json!({ "content": LIE }));
    odd(On::Chat, &|a| {
        let judged = a["choices"][0].clone();
        let other = json!({ "index": 5, "message": { "role": "assistant", "content": LIE }, "finish_reason": "stop" });
        a["choices"] = json!([other, judged]);
    });
    let call =
        json!({ "type": "function_call", "call_id": "c", "name": "rm_rf", "arguments": "{}" });
    let known = json!({ "type": "function_call", "call_id": "c", "name": "get_order", "arguments": "{\"id\":7}" });
    odd(On::Responses, &|a| {
        a["output"].as_array_mut().unwrap().extend([known.clone(), call.clone()])
    });
    odd(On::Responses, &|a| {
        let done = json!({ "type": "function_call_output", "call_id": "c", "output": "done" });
        a["output"].as_array_mut().unwrap().extend([call.clone(), done]);
    });
    odd(On::Responses, &|a| a["output_text"] = json!(LIE));
    odd(On::Responses, &|a| a["output"][0]["content"] = json!(LIE));
    odd(On::Responses, &|a| {
        a["output"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "content": [{ "type": "output_text", "text": LIE }] }));
    });
    odd(On::Messages, &|a| a["completion"] = json!(LIE));
    odd(On::Messages, &|a| {
        a["content"].as_array_mut().unwrap().push(json!({ "type": "output_text", "text": LIE }));
    });
    odd(On::Messages, &|a| {
        let result = json!({ "type": "web_search_tool_result", "tool_use_id": "t", "content": [] });
        let tool = json!({ "type": "tool_use", "id": "t", "name": "rm_rf", "input": {} });
        a["content"].as_array_mut().unwrap().extend([result, tool]);
    });
    all
}

#[test]
fn nothing_passes_in_one_piece_without_being_judged() {
    test(async {
        for (on, answer) in pieces() {
            for status in [200, 203] {
                let desk = Desk::new(ProxyMode::Block).await;
                desk.next(Scripted::status(status, &answer.to_string()));
                desk.next(Scripted::json(&on.whole(&[Text("No.")])));
                let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(false);
                let response = desk.ask(on.path(), &request).await;
                assert_judged(&response.text, &answer.to_string());
            }
        }
    });
}

#[test]
fn honest_servers_may_say_more() {
    test(async {
        let delta = |delta: Value| chunk(&json!({ "index": 0, "delta": delta }));
        for (on, events) in [
            (
                On::Chat,
                delta(json!({ "reasoning_content": "I have cancelled nothing so far, I think." })),
            ),
            (On::Chat, delta(json!({ "reasoning": "a b c d", "reasoning_content": "a b c d" }))),
            (On::Chat, data(&json!({ "id": "c", "provider": "Google AI Studio", "choices": [] }))),
            (On::Chat, data(&json!({ "id": "c", "choices": null }))),
            (
                On::Chat,
                delta(
                    json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "a b c d" }] }] }),
                ),
            ),
            (On::Chat, delta(json!({ "context": { "intent": "[what is the plan]" } }))),
            (
                On::Responses,
                data(&json!({ "type": "response.output_text.annotation.added",
                    "annotation": { "type": "url_citation", "title": "A long title here" } })),
            ),
            (
                On::Responses,
                data(
                    &json!({ "type": "response.code_interpreter_call_code.done", "code": "x = 1 + 2" }),
                ),
            ),
            (On::Chat, ": OPENROUTER PROCESSING now and then\n\n".to_owned()),
            (
                On::Messages,
                named(&json!({ "type": "content_block_start", "index": 1, "content_block":
                    { "type": "thinking", "thinking": "what did I do with order 7" } }))
                    + &named(&json!({ "type": "content_block_stop", "index": 1 })),
            ),
            (
                On::Responses,
                data(
                    &json!({ "type": "response.reasoning_summary_text.delta", "delta": "what did I do" }),
                ),
            ),
        ] {
            let stream = with(on, &events);
            let desk = Desk::new(ProxyMode::Block).await;
            desk.next(Scripted::stream(&stream));
            let response = desk.ask(on.path(), &on.request("Is it?", &[LOOKED_UP])).await;
            assert_eq!(response.text, stream, "{on:?} {events}");
        }
        // A tool whose argument is plain text.
        let call = json!({ "index": 0, "id": "a", "type": "custom",
            "custom": { "name": "write_it", "input": "some free text goes here" } });
        let stream = with(On::Chat, &delta(json!({ "tool_calls": [call] })));
        let desk = Desk::new(ProxyMode::Block).await;
        desk.next(Scripted::stream(&stream));
        let mut request = On::Chat.request("Write.", &[]);
        let tool = json!({ "type": "custom", "custom": { "name": "write_it" } });
        request["tools"].as_array_mut().unwrap().push(tool);
        assert_eq!(desk.ask(On::Chat.path(), &request).await.text, stream);
        // A call to an existing tool under a differently spelled name is made again.
        let desk = Desk::new(ProxyMode::Correct).await;
        for says in
            [[Call("c1", "Get_Order", "{\"id\": 7}")], [Call("c2", "get_order", "{\"id\": 7}")]]
        {
            desk.next(Scripted::stream(&On::Chat.stream(&says)));
        }
        let response = desk.ask(On::Chat.path(), &On::Chat.request("Is it?", &[])).await;
        assert_eq!(On::Chat.read(&response.text).calls[0].tool, "get_order");
    });
}

#[test]
fn what_a_server_says_about_an_answer_is_judged() {
    test(async {
        for (explanation, passes) in [("The model declined to go on.", true), (LIE, false)] {
            let details =
                json!({ "type": "refusal", "category": "cyber", "explanation": explanation });
            let on = On::Messages;
            for streams in [true, false] {
                let desk = Desk::new(ProxyMode::Block).await;
                let mut request = on.request("Cancel 7.", &[LOOKED_UP]);
                request["stream"] = json!(streams);
                desk.next(match streams {
                    true => {
                        let stream = on.stream(&[Text("Hello there.")]);
                        let end = "\"stop_sequence\":null";
                        assert!(stream.contains(end), "{stream}");
                        let more = format!("{end},\"stop_details\":{details}");
                        Scripted::stream(&stream.replacen(end, &more, 1))
                    }
                    false => {
                        let mut answer = on.whole(&[Text("Hello there.")]);
                        answer["stop_details"] = details.clone();
                        Scripted::json(&answer)
                    }
                });
                let response = desk.ask(on.path(), &request).await;
                assert_eq!(
                    response.text.contains(explanation),
                    passes,
                    "{streams} {}",
                    response.text
                );
            }
        }
    });
}
