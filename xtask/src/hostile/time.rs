//! Texts that cost far more than their length: each kind of token, repeated.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::bench::Bench;
use super::{Attempt, Held};

/// How large a message is made, in bytes.
const LARGE: usize = 160_000;
/// What checking it may take, the start of the process included.
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
    Ok(attempts)
}

fn one(bench: &Bench, name: &str, text: &str) -> Result<Attempt> {
    let log = json!({ "messages": [
        { "role": "user", "content": "Do it." },
        { "role": "assistant", "content": text },
    ] });
    let path = bench.write("log.json", log.to_string())?.display().to_string();
    let ran = bench.run(&["--no-config", "check", &path], "")?;
    let held = ran.took < LIMIT && ran.code.is_some_and(|code| code < 2);
    let seen = || format!("{:.1} s, exit code {:?}", ran.took.as_secs_f64(), ran.code);
    Ok(Attempt::new(name, Held::when(held, seen)))
}
