//! Long results: what is shown of them, and how the rest is read.

use counterfoil_guard::{
    FunctionExecutor, Guard, GuardSettings, OverflowOptions, SessionStart, ShellExecutor,
    ShellOptions, ShellPolicy, ShellPolicyHandle, ToolError, TrustLevel,
};
use counterfoil_model::{Status, Tool, ToolErrorCategory};
use serde_json::{Value, json};

use crate::desk::{run, session, shop, wait};

fn long() -> FunctionExecutor {
    FunctionExecutor::new(Tool::named("long"), |_: &Value| {
        let text: String = (0..10_000).map(|n| format!("line {n} — ü\n")).collect();
        Ok::<_, ToolError>(text + "token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n")
    })
}

/// The whole text of a result, read piece by piece.
fn read(session: &counterfoil_guard::Session, id: &str) -> String {
    let (mut text, mut offset) = (String::new(), 0);
    loop {
        let arguments = json!({ "id": id, "offset": offset }).to_string();
        let answer = wait(run(session, "read_overflow", &arguments));
        assert_eq!(answer.status, Status::Completed, "{}", answer.text);
        let (note, piece) = answer.text.split_once('\n').unwrap();
        text.push_str(piece);
        let Some((_, next)) = note.split_once("; next `offset`: ") else { return text };
        offset = next.trim_end_matches(']').parse::<usize>().unwrap();
    }
}

/// INVARIANT: a cut result can be read, redacted, by the session that produced it and by no other.
#[test]
fn a_long_result_is_shown_in_part_and_read_in_pieces() {
    let guard = shop().executor(long()).read_overflow().build().unwrap();
    let (ours, theirs) = (session(&guard, "ours"), session(&guard, "theirs"));
    let answer = wait(run(&ours, "long", "{}"));
    assert!(answer.truncated);
    assert!(answer.text.chars().count() <= 30_000);
    let hint = format!("read_overflow {{\"id\":\"{}\"}} shows them", answer.execution_id);
    assert!(answer.text.contains(&hint), "{hint}");
    assert_eq!(ours.shown_results().unwrap()[&answer.execution_id], answer.text);
    let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
    assert_eq!(receipt.filters, ["overflow"]);
    // The recorded result is not cut.
    assert!(!receipt.truncated);
    let text = read(&ours, &answer.execution_id);
    assert_eq!(text.lines().count(), 10_001);
    assert!(text.starts_with("line 0 — ü\nline 1 — ü\n"));
    assert!(text.ends_with("[REDACTED:auth_token]\n"));

    let arguments = json!({ "id": answer.execution_id }).to_string();
    let refused = wait(run(&theirs, "read_overflow", &arguments));
    assert_eq!(refused.category, Some(ToolErrorCategory::PermanentFailure));
    let unknown = wait(run(&theirs, "read_overflow", r#"{"id":"long-1-2"}"#));
    let same = refused.text.replace(&answer.execution_id, "long-1-2");
    assert_eq!(same, unknown.text);
}

#[test]
fn without_the_tool_no_result_refers_to_it() {
    let settings = GuardSettings {
        overflow: OverflowOptions { max_chars: 2_000 }.resolve().unwrap(),
        ..GuardSettings::default()
    };
    let guard = shop().settings(settings).executor(long()).build().unwrap();
    let session = session(&guard, "s");
    let answer = wait(run(&session, "long", "{}"));
    assert!(answer.text.chars().count() <= 2_000);
    assert!(answer.text.contains(" characters left out ...]"), "{}", answer.text);
    let error = OverflowOptions { max_chars: 10 }.resolve().unwrap_err().to_string();
    assert_eq!(error, "`max_chars` is 10; it must be between 1000 and 10000000");
}

/// The part of a command's output that is not shown is recorded, up to its own limit.
#[test]
#[cfg(target_os = "linux")]
fn the_middle_of_a_commands_output_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let shell = ShellOptions {
        max_output_chars: 1_000,
        max_recorded_chars: 50_000,
        ..ShellOptions::default()
    };
    let policy = ShellPolicy { settings: shell.resolve().unwrap(), ..ShellPolicy::default() };
    let settings =
        GuardSettings { shell: ShellPolicyHandle::new(policy), ..GuardSettings::default() };
    let shell = ShellExecutor::new(settings.shell.clone());
    let guard = Guard::builder()
        .settings(settings)
        .executor(shell)
        .read_overflow()
        .workspace(folder.path())
        .build()
        .unwrap();
    let start = SessionStart { trust: TrustLevel::Trusted, ..SessionStart::default() };
    let session = guard.session(start).unwrap();
    for (lines, recorded_whole) in [(3_000, true), (30_000, false)] {
        let arguments = json!({ "command": format!("seq 1 {lines}") }).to_string();
        let answer = wait(run(&session, "shell", &arguments));
        assert!(answer.truncated && answer.text.chars().count() <= 1_000, "{}", answer.text);
        assert!(answer.text.starts_with("1\n2\n") && answer.text.contains(&lines.to_string()));
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!((receipt.truncated, receipt.kept_whole), (true, recorded_whole));
        let text = read(&session, &answer.execution_id);
        assert_eq!(text.contains(&format!("\n{}\n", lines / 2)), recorded_whole);
        assert!(text.chars().count() <= 50_100);
        let again = session.shown_results().unwrap().remove(&answer.execution_id).unwrap();
        assert!(again.starts_with("1\n2\n") && again.len() <= answer.text.len(), "{again}");
    }
}
