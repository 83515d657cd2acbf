//! Logs that try to inject into a terminal, a runner's commands or a report.

use serde_json::{Value, json};

use crate::stage::{Stage, text as text_of};

/// Characters that no output may pass on unescaped.
const RAW: [(&str, char); 11] = [
    ("an escape", '\u{1b}'),
    ("a bell", '\u{7}'),
    ("an eight-bit escape", '\u{9b}'),
    ("a null", '\u{0}'),
    ("a mark of direction", '\u{202e}'),
    ("an isolate", '\u{2066}'),
    ("an Arabic letter mark", '\u{61c}'),
    ("a zero-width space", '\u{200b}'),
    ("a byte-order mark", '\u{feff}'),
    ("a tag", '\u{e0041}'),
    ("no character", '\u{fffe}'),
];

/// Texts that the reader of the output might interpret.
const TEXTS: [&str; 6] = [
    "\n::error file=x::no",
    "\n##[error]no",
    "]]></system-out><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![i](http://evil.example/x.png)",
];

#[test]
fn logs_do_not_write_into_terminals_and_reports() {
    let mut stage = Stage::new();
    for format in ["text", "json", "jsonl", "sarif", "junit", "github", "markdown"] {
        for (name, c) in RAW {
            let output = checked(&stage, format, &c.to_string());
            // JSON may contain any character except controls; escaping others is up to its
            // consumer.
            let json = matches!(format, "json" | "jsonl" | "sarif") && !c.is_control();
            let held = json || !output.contains(c);
            let name = format!("{format}: {name}");
            stage.tried(name, held, || "it is passed on".to_owned());
        }
        for text in TEXTS {
            let output = checked(&stage, format, text);
            let wrong = acts(format, &output);
            let seen = || wrong.unwrap_or_default().to_owned();
            stage.tried(format!("{format}: {text:?}"), wrong.is_none(), seen);
        }
    }
    stage.end();
}

/// Returns the output of checking a log that contains this text everywhere possible.
fn checked(stage: &Stage, format: &str, text: &str) -> String {
    let id = format!("c{text}");
    let call = json!({ "id": id, "type": "function", "function": {
        "name": "bash", "arguments": json!({ "command": format!("pytest # {text}") }).to_string(),
    } });
    let log = json!({ "id": format!("s{text}"), "messages": [
        { "role": "user", "content": format!("Go {text}") },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": id, "content": format!("Exit code 1\n1 failed {text}") },
        { "role": "assistant", "content": format!("All 42 tests pass {text}. I used the `nope{text}` tool.") },
    ] });
    stage.write("logs/a.json", log.to_string());
    stage.write("logs/b.json", format!("{{\"messages\": [1,2 {text}"));
    let path = text_of(&stage.path("logs"));
    stage.run(&["--no-config", "check", &path, "--format", format, "--show-supported"], "").out
}

/// Removes the code from Markdown.
fn without_code(markdown: &str) -> String {
    let (mut rest, mut out) = (markdown, String::new());
    while let Some((before, from)) = rest.split_once('`') {
        let fence = 1 + from.len() - from.trim_start_matches('`').len();
        let inner = from.trim_start_matches('`');
        let close = inner.match_indices('`').map(|(at, _)| at).find(|at| {
            let (before, after) = inner.split_at(*at);
            let run = after.len() - after.trim_start_matches('`').len();
            run == fence && !before.ends_with('`')
        });
        out.push_str(before);
        match close.and_then(|at| inner.get(at + fence..)) {
            Some(after) => rest = after,
            // Not a code span.
            None => (out, rest) = (out + "`", from),
        }
    }
    out + rest
}

/// Returns what the output would trigger, if anything.
fn acts(format: &str, output: &str) -> Option<&'static str> {
    let shown = if format == "markdown" { without_code(output) } else { output.to_owned() };
    let output = shown.as_str();
    let own = |line: &&str| {
        ["::error file=", "::warning file=", "::notice title=counterfoil"]
            .iter()
            .any(|own| line.starts_with(own))
    };
    let command = output.lines().find(|line| {
        line.starts_with("::") && !own(line)
            || line.starts_with("::error file=x:")
            || line.starts_with("##[")
    });
    match format {
        "github" | "text" | "markdown" if command.is_some() => Some("a command of a runner"),
        "junit" if output.contains("<script") || output.contains("<img") => Some("an element"),
        "markdown" if output.contains("<script") || output.contains("<img") => Some("an element"),
        "markdown" if output.contains("](javascript") || output.contains("![i](") => Some("a link"),
        "json" | "sarif" if serde_json::from_str::<Value>(output).is_err() => Some("no JSON"),
        _ => None,
    }
}
