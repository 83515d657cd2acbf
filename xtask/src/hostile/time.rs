//! Texts that cost far more than their length: repetitions of each kind of token.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::bench::Bench;
use super::{Attempt, Held};

/// The size of a message, in bytes.
const LARGE: usize = 160_000;
/// The maximum time to check it, including the start of the process.
const LIMIT: Duration = Duration::from_secs(4);

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

pub(super) fn attempt(bench: &Bench) -> Result<Vec<Attempt>> {
    let mut attempts = Vec::new();
    for token in REPEATED {
        let text = token.repeat(LARGE / token.len());
        attempts.push(one(bench, &format!("{token:?} repeated"), &text)?);
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
        attempts.push(one(bench, name, &text)?);
    }
    attempts.push(many(bench, "claims against as many calls", 8_000)?);
    attempts.push(turns(bench, 6_000)?);
    Ok(attempts)
}

/// Creates as many claims as calls, each about another file.
fn many(bench: &Bench, name: &str, count: usize) -> Result<Attempt> {
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
    let said: String =
        (0..count).map(|i| format!("I ran tests/test_{i}.py and it passed. ")).collect();
    messages.push(json!({ "role": "assistant", "content": said }));
    log(bench, name, &json!({ "messages": messages }))
}

/// Creates thousands of turns that claim passed tests, without any call.
fn turns(bench: &Bench, count: usize) -> Result<Attempt> {
    let messages: Vec<_> = (0..count)
        .flat_map(|i| {
            [
                json!({ "role": "user", "content": format!("Run the tests, part {i}.") }),
                json!({ "role": "assistant", "content": format!("All {i} tests pass.") }),
            ]
        })
        .collect();
    log(bench, "thousands of turns", &json!({ "messages": messages }))
}

fn one(bench: &Bench, name: &str, text: &str) -> Result<Attempt> {
    let messages = json!([
        { "role": "user", "content": "Do it." },
        { "role": "assistant", "content": text },
    ]);
    log(bench, name, &json!({ "messages": messages }))
}

fn log(bench: &Bench, name: &str, log: &serde_json::Value) -> Result<Attempt> {
    let path = bench.write("log.json", log.to_string())?.display().to_string();
    let ran = bench.run(&["--no-config", "check", &path], "")?;
    let held = ran.took < LIMIT && ran.code.is_some_and(|code| code < 2);
    let seen = || format!("{:.1} s, exit code {:?}", ran.took.as_secs_f64(), ran.code);
    Ok(Attempt::new(name, Held::when(held, seen)))
}
