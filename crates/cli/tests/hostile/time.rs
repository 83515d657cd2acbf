//! Texts that cost far more than their length: repetitions of each kind of token.

use serde_json::json;

use crate::stage::Stage;

/// The size of a message, in bytes.
const LARGE: usize = 160_000;

const REPEATED: [&str; 48] = [
    ".",
    ",",
    ";",
    ":",
    "!",
    "?",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "*",
    "_",
    "#",
    "|",
    "~",
    "-",
    "/",
    "\\",
    "&amp;",
    "\n",
    "\n\n",
    "- ",
    "> ",
    "```\n",
    "Error:",
    "1 ",
    "1.",
    "a ",
    "all tests pass and ",
    "I ran the tests, ",
    "if ",
    "not ",
    "he said \"",
    "`x` ",
    "[a](b)",
    "http://a ",
    "a@b.c ",
    "I deleted a.rs. ",
    "42 ",
    "; then ",
    "— ",
];

#[test]
fn texts_do_not_take_too_long() {
    let mut stage = Stage::new();
    for token in REPEATED {
        let text = token.repeat(LARGE / token.len());
        one(&mut stage, &format!("{token:?} repeated"), &text);
    }
    let half = LARGE / 2;
    for (name, text) in [
        ("brackets in brackets", format!("{}x{}", "(".repeat(half), ")".repeat(half))),
        (
            "a sentence without an end",
            "I ran the tests".to_owned() + &", ".repeat(half) + "and all tests pass.",
        ),
        ("one long word", "a".repeat(LARGE)),
    ] {
        one(&mut stage, name, &text);
    }
    many(&mut stage, 8_000);
    turns(&mut stage, 6_000);
    stage.end();
}

/// Creates as many claims as calls, each about another file.
fn many(stage: &mut Stage, count: usize) {
    let mut messages = vec![json!({ "role": "user", "content": "Do it." })];
    for i in 0..count {
        let arguments = json!({ "command": format!("pytest tests/test_{i}.py") }).to_string();
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": format!("c{i}"), "type": "function",
              "function": { "name": "bash", "arguments": arguments } },
        ] }));
        let printed = format!("{} passed in 0.1s", i % 9 + 1);
        messages
            .push(json!({ "role": "tool", "tool_call_id": format!("c{i}"), "content": printed }));
    }
    let claims: String =
        (0..count).map(|i| format!("I ran tests/test_{i}.py and it passed. ")).collect();
    messages.push(json!({ "role": "assistant", "content": claims }));
    log(stage, "claims against as many calls", &json!({ "messages": messages }));
}

/// Creates thousands of turns that claim passed tests, without any call.
fn turns(stage: &mut Stage, count: usize) {
    let messages: Vec<_> = (0..count)
        .flat_map(|i| {
            [
                json!({ "role": "user", "content": format!("Run the tests, part {i}.") }),
                json!({ "role": "assistant", "content": format!("All {i} tests pass.") }),
            ]
        })
        .collect();
    log(stage, "thousands of turns", &json!({ "messages": messages }));
}

fn one(stage: &mut Stage, name: &str, text: &str) {
    let messages = json!([
        { "role": "user", "content": "Do it." },
        { "role": "assistant", "content": text },
    ]);
    log(stage, name, &json!({ "messages": messages }));
}

fn log(stage: &mut Stage, name: &str, log: &serde_json::Value) {
    let path = stage.write("log.json", log.to_string());
    let ran = stage.run(&["--no-config", "check", &path], "");
    stage.tried(name, ran.is_quick(2), || ran.time());
}
