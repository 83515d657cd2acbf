//! Runs the cases on the page about upshots.

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};
use counterfoil_rules::{Indexed, Upshot};

const PAGE: &str = include_str!("../../../../spec/upshots.md");

#[test]
fn calls_come_to_what_the_page_says() {
    let (_, cases) = PAGE.split_once("## Cases").unwrap();
    let rows: Vec<[&str; 3]> = cases.lines().filter_map(cells).skip(2).collect();
    assert!(rows.len() > 50, "the page has lost its cases: {}", rows.len());
    let mut wrong = Vec::new();
    for [call, result, expected] in rows {
        let transcript = transcript(call, result);
        let came = Indexed::new(&transcript).upshot(0).map(Upshot::name);
        if came != Some(expected) {
            wrong.push(format!("{call} → {result}: expected {expected}, is {came:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn cells(line: &str) -> Option<[&str; 3]> {
    let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
    line.split(" | ").collect::<Vec<_>>().try_into().ok()
}

fn transcript(call: &str, result: &str) -> Transcript {
    let (tool, arguments) = call.trim_matches('`').split_once(' ').unwrap();
    let calls = vec![ToolCall::new("c1", tool, arguments)];
    let asks = Message { calls, ..Message::text(Role::Assistant, "") };
    let mut transcript = Transcript::new("case", Format::Fk);
    transcript.messages = vec![Message::text(Role::User, "Go."), asks];
    if result != "(none)" {
        let outcomes = vec![outcome(result)];
        transcript.messages.push(Message { outcomes, ..Message::text(Role::Tool, "") });
    }
    transcript
}

/// The marks, and the text between backticks.
fn outcome(result: &str) -> Outcome {
    let (marks, text) = result.split_once('`').unwrap_or((result, ""));
    let exit = marks.split_once("(exit ").and_then(|(_, code)| code.split_once(')'));
    let error = marks.contains("(error)").then_some(true);
    let mut outcome = Outcome {
        call_id: "c1".to_owned(),
        text: text.trim_end_matches('`').to_owned(),
        is_error: error.or_else(|| marks.contains("(ok)").then_some(false)),
        exit_code: exit.map(|(code, _)| code.parse().unwrap()),
        refused: marks.contains("(refused)"),
        unread: marks.contains("(unread)"),
        ..Outcome::default()
    };
    outcome.unwrap_command();
    outcome
}
