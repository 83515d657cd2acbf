//! Tests of the formats of each API.

use counterfoil_model::{Tool, ToolCall};
use counterfoil_providers::{Kind, Piece, Reply, Request, Stop, Turn, Usage};
use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::{chat, hello, options, provider};

const COMPLETION: &[&str] = &[
    r#"{"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"I lo"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"ok."}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"ls","arguments":""}}]}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\": 1.5"}}]}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"cat","arguments":"{}"}}]}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"0,\"n\": 2}"}}]}}]}"#,
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}"#,
    "[DONE]",
];

const MESSAGE: &[&str] = &[
    r#"{"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":9,"cache_read_input_tokens":2}}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I lo"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok."}}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"ls","input":{}}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 1.50,"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"n\": 2}"}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c2","name":"cat","input":{}}}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":4}}"#,
    r#"{"type":"message_stop"}"#,
];

const RESPONSE: &[&str] = &[
    r#"{"type":"response.created","response":{"model":"m-1"}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","delta":"hm"}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r1","encrypted_content":"s"}}"#,
    r#"{"type":"response.output_text.delta","delta":"I lo"}"#,
    r#"{"type":"response.output_text.delta","delta":"ok."}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"I look."}]}}"#,
    r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","name":"ls"}}"#,
    r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"n\": 1.50,\"n\": 2}"}}"#,
    r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","name":"cat"}}"#,
    r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"c2","name":"cat","arguments":"{}"}}"#,
    r#"{"type":"response.completed","response":{"model":"m-1","usage":{"input_tokens":9,"output_tokens":4,"input_tokens_details":{"cached_tokens":2}}}}"#,
];

/// The kind, a stream in its format, and the reasoning blocks that are kept.
fn wires() -> [(Kind, &'static [&'static str], Vec<Value>); 3] {
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
    let reasoning = json!({ "type": "reasoning", "encrypted_content": "s" });
    [
        (Kind::OpenAi, COMPLETION, vec![]),
        (Kind::Anthropic, MESSAGE, vec![thought]),
        (Kind::Responses, RESPONSE, vec![reasoning]),
    ]
}

#[test]
fn an_answer_in_pieces_is_put_together_and_arguments_stay_as_they_were_written() {
    for (kind, events, kept) in wires() {
        let server = Server::start(vec![Answer::stream(events)]);
        let (reply, pieces) = chat(&provider(&options(&server, kind)), &hello());
        let expected = Reply {
            text: "I look.".to_owned(),
            calls: vec![
                ToolCall::new("c1", "ls", r#"{"n": 1.50,"n": 2}"#),
                ToolCall::new("c2", "cat", "{}"),
            ],
            kept,
            stop: Stop::Calls,
            usage: Usage { input: 9, output: 4, cached: 2 },
            model: Some("m-1".to_owned()),
        };
        assert_eq!(reply.unwrap(), expected, "{kind:?}");
        let text = |text: &str| Piece::Text(text.to_owned());
        let calls = ["ls", "cat"].map(|name| Piece::Call(name.to_owned()));
        let texts = [Piece::Thought("hm".to_owned()), text("I lo"), text("ok.")];
        let (whole, others): (Vec<Piece>, Vec<Piece>) =
            pieces.into_iter().partition(|piece| matches!(piece, Piece::Whole(_)));
        assert_eq!(others, [&texts[..], &calls].concat(), "{kind:?}");
        // Each call is reported once, when it is complete. The last call may only turn out to be
        // complete at the end of the stream.
        let times = |call: &ToolCall| {
            whole.iter().filter(|piece| **piece == Piece::Whole(call.clone())).count()
        };
        let [first, last] = expected.calls.as_slice() else { unreachable!() };
        assert_eq!((times(first), whole.len()), (1, 1 + times(last)), "{kind:?} {whole:?}");
    }
}

#[test]
fn a_stream_that_ends_anywhere_is_no_answer() {
    for (kind, events, _) in wires() {
        for end in 0..events.len() - 1 {
            let server = Server::start(vec![Answer::stream(&events[..end])]);
            let mut options = options(&server, kind);
            options.max_attempts = 1;
            let (reply, _) = chat(&provider(&options), &hello());
            // In chat completions, the finish reason is the end; only token counts follow.
            let whole = kind == Kind::OpenAi && end >= events.len() - 2;
            assert_eq!(reply.is_ok(), whole, "{kind:?} {end}: {reply:?}");
        }
    }
}

#[test]
fn an_error_in_a_stream_is_reported() {
    for (kind, event) in [
        (Kind::OpenAi, r#"{"error":{"message":"overloaded"}}"#),
        (Kind::Anthropic, r#"{"type":"error","error":{"type":"x","message":"overloaded"}}"#),
        (Kind::Responses, r#"{"type":"error","message":"overloaded"}"#),
        (
            Kind::Responses,
            r#"{"type":"response.failed","response":{"error":{"message":"overloaded"}}}"#,
        ),
    ] {
        let server = Server::start(vec![Answer::stream(&[event])]);
        let mut options = options(&server, kind);
        options.max_attempts = 1;
        let error = chat(&provider(&options), &hello()).0.unwrap_err().to_string();
        assert_eq!(
            error, "`p` gave no valid response: the server reported: overloaded",
            "{kind:?}"
        );
    }
}

#[test]
fn an_answer_in_one_piece_says_the_same() {
    for (kind, body) in [
        (
            Kind::OpenAi,
            r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","function":{"name":"ls","arguments":"{\"n\": 1.50}"}},{"id":"c2","function":{"name":"ls","arguments":{"n":2}}}]},"finish_reason":"tool_calls"}]}"#,
        ),
        (
            Kind::Anthropic,
            r#"{"content":[{"type":"tool_use","id":"c1","name":"ls","input":{"n": 1.50}},{"type":"tool_use","id":"c2","name":"ls","input":{"n":2}}],"stop_reason":"tool_use"}"#,
        ),
        (
            Kind::Responses,
            r#"{"output":[{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"n\": 1.50}"},{"type":"function_call","call_id":"c2","name":"ls","arguments":"{\"n\":2}"}]}"#,
        ),
    ] {
        let server = Server::start(vec![Answer::json(body)]);
        let reply = chat(&provider(&options(&server, kind)), &hello()).0.unwrap();
        let calls =
            [ToolCall::new("c1", "ls", r#"{"n": 1.50}"#), ToolCall::new("c2", "ls", r#"{"n":2}"#)];
        assert_eq!(reply.calls, calls, "{kind:?}");
        assert_eq!(reply.stop, Stop::Calls, "{kind:?}");
    }
}

#[test]
fn calls_without_an_index_are_distinguished_by_their_ids() {
    let part = |id: &str, name: &str, arguments: &str| {
        let call = json!({ "id": id, "function": { "name": name, "arguments": arguments } });
        json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }).to_string()
    };
    let events = [
        part("a", "ls", "{\"n\""),
        part("", "", ":1}"),
        part("b", "ls", "{}"),
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let server = Server::start(vec![Answer::stream(&events)]);
    let reply = chat(&provider(&options(&server, Kind::OpenAi)), &hello()).0.unwrap();
    assert_eq!(
        reply.calls,
        [ToolCall::new("a", "ls", r#"{"n":1}"#), ToolCall::new("b", "ls", "{}")]
    );
}

/// A conversation with every kind of entry.
fn conversation(kept: Vec<Value>) -> Request {
    let calls =
        vec![ToolCall::new("c1", "ls", r#"{"n": 1}"#), ToolCall::new("c2", "ls", "{broken")];
    let result = |id: &str, failed| Turn::Result {
        call_id: id.to_owned(),
        text: format!("of {id}"),
        failed,
    };
    Request {
        system: "Be brief.".to_owned(),
        turns: vec![
            Turn::User("Look.".to_owned()),
            Turn::Assistant { text: String::new(), calls, kept },
            result("c1", false),
            result("c2", true),
            Turn::Assistant { text: "Done.".to_owned(), calls: vec![], kept: vec![] },
            Turn::User("Again.".to_owned()),
        ],
        tools: vec![Tool { description: "Lists.".to_owned(), ..Tool::named("ls") }],
    }
}

fn sent(kind: Kind, kept: Vec<Value>) -> Value {
    let server = Server::start(vec![Answer::status(400, "no")]);
    let _ = chat(&provider(&options(&server, kind)), &conversation(kept));
    server.requests()[0].body.clone()
}

#[test]
fn requests_for_chat_completions() {
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "ls", "arguments": arguments } });
    let expected = json!({
        "model": "m",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "tool_calls": [call("c1", "{\"n\": 1}"), call("c2", "{broken")] },
            { "role": "tool", "tool_call_id": "c1", "content": "of c1" },
            { "role": "tool", "tool_call_id": "c2", "content": "of c2" },
            { "role": "assistant", "content": "Done." },
            { "role": "user", "content": "Again." },
        ],
        "tools": [{ "type": "function", "function": { "name": "ls", "description": "Lists.", "parameters": { "type": "object", "properties": {} } } }],
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    assert_eq!(sent(Kind::OpenAi, vec![]), expected);
}

#[test]
fn requests_for_anthropic_messages() {
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let expected = json!({
        "model": "m",
        "max_tokens": 8192,
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }],
        "tools": [{ "name": "ls", "description": "Lists.", "input_schema": { "type": "object", "properties": {} } }],
        "messages": [
            { "role": "user", "content": text("Look.") },
            { "role": "assistant", "content": [
                thought,
                { "type": "tool_use", "id": "c1", "name": "ls", "input": { "n": 1 } },
                { "type": "tool_use", "id": "c2", "name": "ls", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c1", "content": "of c1" },
                { "type": "tool_result", "tool_use_id": "c2", "content": "of c2", "is_error": true },
            ] },
            { "role": "assistant", "content": text("Done.") },
            { "role": "user", "content": text("Again.") },
        ],
        "stream": true,
    });
    assert_eq!(sent(Kind::Anthropic, vec![thought]), expected);
}

#[test]
fn requests_for_responses() {
    let reasoning = json!({ "type": "reasoning", "encrypted_content": "s" });
    let call = |id: &str, arguments: &str| json!({ "type": "function_call", "call_id": id, "name": "ls", "arguments": arguments });
    let expected = json!({
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            { "role": "user", "content": "Look." },
            reasoning,
            call("c1", "{\"n\": 1}"),
            call("c2", "{broken"),
            { "type": "function_call_output", "call_id": "c1", "output": "of c1" },
            { "type": "function_call_output", "call_id": "c2", "output": "of c2" },
            { "role": "assistant", "content": "Done." },
            { "role": "user", "content": "Again." },
        ],
        "tools": [{ "type": "function", "name": "ls", "description": "Lists.", "parameters": { "type": "object", "properties": {} }, "strict": false }],
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "stream": true,
    });
    assert_eq!(sent(Kind::Responses, vec![reasoning]), expected);
}
