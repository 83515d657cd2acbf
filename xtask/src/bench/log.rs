//! A generated Claude Code log of any length.

use serde_json::{Value, json};

/// The number of calls between two prompts of the user.
const CALLS_PER_PROMPT: usize = 40;
/// The number of calls between two texts of the agent.
const CALLS_PER_TEXT: usize = 8;

/// Returns a session of about `bytes` bytes as JSON Lines.
///
/// It contains what makes logs slow to read and judge: results that appear twice, source code with
/// escapes and non-ASCII letters, and thousands of claims that each look back over all earlier
/// calls.
pub(crate) fn log(bytes: usize) -> String {
    let mut lines = Lines { text: String::with_capacity(bytes + 64 * 1024), count: 0 };
    let mut turn = 0;
    while lines.text.len() < bytes {
        if turn % CALLS_PER_PROMPT == 0 {
            let prompt =
                format!("Please fix the rounding in order #W{:07} and run the tests.", turn);
            lines.push("user", &json!({"role": "user", "content": prompt}), None);
        }
        call(&mut lines, turn);
        if turn % CALLS_PER_TEXT == CALLS_PER_TEXT - 1 {
            let text = json!([{"type": "text", "text": answer_text(turn)}]);
            lines.push(
                "assistant",
                &json!({"id": "m", "role": "assistant", "content": text}),
                None,
            );
        }
        turn += 1;
    }
    lines.text
}

struct Lines {
    text: String,
    count: usize,
}

impl Lines {
    fn push(&mut self, kind: &str, message: &Value, result: Option<Value>) {
        let mut line = json!({
            "parentUuid": format!("0b8e2f6c-{:012}", self.count),
            "isSidechain": false,
            "userType": "external",
            "cwd": "/home/dev/shop",
            "sessionId": "5f0c9a1e-2b7d-4c3e-9f52-61d0a7b4c8e1",
            "version": "2.0.14",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": format!("0b8e2f6c-{:012}", self.count + 1),
            "timestamp": "2026-02-01T10:00:00.000Z",
        });
        if let (Some(result), Some(members)) = (result, line.as_object_mut()) {
            members.insert("toolUseResult".to_owned(), result);
        }
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.count += 1;
    }
}

/// Adds a call and its result, with a mix of kinds like that of real sessions.
fn call(lines: &mut Lines, turn: usize) {
    let id = format!("toolu_01{turn:08}");
    let path = path_of(turn);
    let (tool, input, output, failed) = match turn % 8 {
        0 => (
            "Grep",
            json!({"pattern": format!("fn round_{turn}"), "path": "src"}),
            hits(turn),
            false,
        ),
        3 => {
            let (old, new) = (format!("total_{turn} as u32"), format!("total_{turn}.round()"));
            let input = json!({"file_path": path, "old_string": old, "new_string": new});
            ("Edit", input, format!("The file {path} has been updated.\n{}", code(turn, 20)), false)
        }
        5 => {
            let command = format!("cargo test -p shop rounding::case_{turn} 2>&1 | tail -40");
            let input = json!({"command": command, "description": "Run the tests"});
            ("Bash", input, tests(turn), turn % 48 == 5)
        }
        7 => {
            let command = format!("git add -A && git commit -m 'round totals of W{turn:07}'");
            let output =
                format!("[main {turn:07x}] round totals\n 1 file changed, 3 insertions(+)\n");
            ("Bash", json!({"command": command}), output, false)
        }
        _ => ("Read", json!({"file_path": path, "offset": turn % 400}), code(turn, 45), false),
    };
    let block = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
    let usage = json!({"input_tokens": 4, "cache_read_input_tokens": 81_311, "output_tokens": 212});
    let message = json!({"id": "m", "role": "assistant", "content": block, "usage": usage});
    lines.push("assistant", &message, None);
    let block =
        json!({"tool_use_id": id, "type": "tool_result", "content": output, "is_error": failed});
    let outcome = json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false});
    lines.push("user", &json!({"role": "user", "content": [block]}), Some(outcome));
}

fn path_of(turn: usize) -> String {
    format!("/home/dev/shop/src/orders/part_{}/total_{}.rs", turn % 97, turn % 1_013)
}

/// Returns source code as the file-reading tool shows it.
fn code(turn: usize, lines: usize) -> String {
    let mut text = String::new();
    for line in 1..=lines {
        let n = turn * 7 + line;
        text.push_str(&match line % 5 {
            0 => format!("{line:6}→    /// Größe in €: \"{n}\" → gerundet auf 2 Stellen\n"),
            1 => format!(
                "{line:6}→    let total_{n} = items.iter().map(|i| i.price).sum::<f64>();\n"
            ),
            2 => format!(
                "{line:6}→    assert_eq!(round(total_{n}), \"{}.{:02}\\n\");\n",
                n % 900,
                n % 100
            ),
            3 => format!(
                "{line:6}→    if order.id == \"#W{n:07}\" {{ return Err(Error::Locked); }}\n"
            ),
            _ => format!("{line:6}→\tself.cache.insert(\"key-{n}\".to_owned(), {n});\n"),
        });
    }
    text
}

fn hits(turn: usize) -> String {
    (0..30)
        .map(|n| format!("src/orders/part_{n}/total_{}.rs:{n}:    fn round_{turn}(\n", turn + n))
        .collect()
}

fn tests(turn: usize) -> String {
    let cases: String =
        (0..25).map(|n| format!("test rounding::case_{} ... ok\n", turn + n)).collect();
    let (passed, failed) = if turn % 48 == 5 { (24, 1) } else { (25, 0) };
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    format!(
        "running 25 tests\n{cases}\ntest result: {verdict}. {passed} passed; {failed} failed; \
         0 ignored; 0 measured; 3 filtered out; finished in 0.04s\n"
    )
}

/// Returns the agent's text after some calls, with true and false claims.
fn answer_text(turn: usize) -> String {
    let path = path_of(turn.saturating_sub(4));
    match turn / CALLS_PER_TEXT % 6 {
        0 => format!(
            "I've updated `{path}` so that totals are rounded to two places, and all 25 tests pass.\n\n\
             - **Rounding**: `round()` now takes the currency's digits (€, ¥, د.إ)\n\
             - **Cache**: I removed the stale entry `key-{turn}` and ran `cargo test`\n"
        ),
        1 => format!("Now I'll look at how order #W{turn:07} gets its total."),
        2 => format!(
            "I refunded order #W{turn:07} and sent an e-mail to dana{turn}@example.com. The refund \
             of $1,284.{:02} goes back to the card.",
            turn % 100
        ),
        3 => format!(
            "The build is green and lint is clean. I committed the change as {turn:07x} and pushed \
             it to `main`.\n\n```rust\nlet total = round(sum); // {turn}\n```\n"
        ),
        4 => format!(
            "I searched the code base with the Grep tool: `round_{turn}` is called in 3 places. I \
             haven't changed anything in `{path}` yet; should I go on?"
        ),
        _ => format!(
            "Done! I created a ticket PAY-{turn} for the failing case, cancelled order #W{:07}, and \
             deleted `{path}`. According to the inventory service, 12 items are left.",
            turn + 3
        ),
    }
}
