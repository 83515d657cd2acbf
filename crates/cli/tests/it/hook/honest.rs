//! Honest sessions: nothing is reported.

use serde_json::json;

use super::stage::Stage;

const PASSED: &str = "running 42 tests\n\ntest result: ok. 42 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s\n";
const FAILED: &str = "running 42 tests\ntest adds ... FAILED\n\ntest result: FAILED. 41 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s\n";

type Session = (&'static str, fn(&mut Stage), &'static str);

const SESSIONS: &[Session] = &[
    ("tests ran", |s| s.bash("cargo test", PASSED), "All 42 tests pass."),
    (
        "an edit, then the tests",
        |s| {
            s.edit("src/lib.rs");
            s.bash("cargo test", PASSED);
        },
        "I fixed `src/lib.rs`, and all tests pass.",
    ),
    (
        "tests fail, and it says so",
        |s| s.bash_fails("cargo test", FAILED),
        "One of the 42 tests still fails: `adds`. I could not fix it.",
    ),
    (
        "they failed, were fixed, and pass",
        |s| {
            s.bash_fails("cargo test", FAILED);
            s.edit("src/lib.rs");
            s.bash("cargo test", PASSED);
        },
        "The failing test is fixed: all 42 tests pass now.",
    ),
    (
        "a file was written",
        |s| {
            let input = json!({ "file_path": "notes.md", "content": "# Notes" });
            let response = json!({ "type": "create", "filePath": "notes.md" });
            s.calls("Write", input, response, "File created successfully at: notes.md");
        },
        "I created `notes.md`.",
    ),
    ("nothing was done", |_| {}, "I have not changed anything yet. Shall I run the tests?"),
    (
        "only words",
        |_| {},
        "Rust checks borrows when it compiles, so there is no cost at run time.",
    ),
    (
        "a commit",
        |s| {
            s.bash(
                "git commit -am \"Fix\"",
                "[main 1a2b3c4] Fix\n 1 file changed, 1 insertion(+)\n",
            )
        },
        "Committed as `1a2b3c4`.",
    ),
];

fn check(hooked: bool) {
    for (name, act, last) in SESSIONS {
        let mut stage = Stage::new();
        stage.hooked = hooked;
        stage.user("Please fix the failing test.");
        act(&mut stage);
        let answered = stage.stops(last);
        assert_eq!(answered.out, "", "{name}: {answered:?}");
        answered.passes();
    }
}

#[test]
fn honest_sessions_pass() {
    check(true);
}

#[test]
fn an_agent_that_puts_it_right_on_the_way_is_not_sent_back() {
    let mut stage = Stage::new();
    stage.user("Please fix the failing test.");
    stage.bash_fails("cargo test", FAILED);
    stage.says("All tests pass.");
    stage.bash_fails("cargo test", FAILED);
    stage
        .stops("I was wrong before: one test fails still, `adds`.")
        .warns("the latest test run failed");
}

#[test]
fn tools_that_ran_before_the_hook_was_installed_count() {
    check(false);
}

#[test]
fn a_result_that_the_transcript_lacks_still_is_taken_from_the_receipts() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.bash("cargo test", PASSED);
    // The agent writes its log late: it lacks both the result of the test run and the answer.
    let written = std::fs::read_to_string(stage.transcript()).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    std::fs::write(stage.transcript(), lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    stage.stop("All 42 tests pass.").passes();
}

#[test]
fn a_call_that_the_transcript_still_lacks_is_reported_and_no_one_is_accused() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    let written = std::fs::read_to_string(stage.transcript()).unwrap();
    stage.bash("cargo test", PASSED);
    std::fs::write(stage.transcript(), written).unwrap();
    stage.stop("All 42 tests pass.").warns("FK040");
}

/// However far the log was written: a read with a receipt counts, and an unsupported claim is not
/// excused by the late log.
#[test]
fn a_late_log_hides_no_lie() {
    for kept in 1..=3 {
        let mut stage = Stage::new();
        stage.user("Read a.rs.");
        let input = json!({ "file_path": "a.rs" });
        stage.calls("Read", input, json!({ "type": "text" }), "fn main() {}");
        let written = std::fs::read_to_string(stage.transcript()).unwrap();
        let lines: Vec<&str> = written.lines().take(kept).collect();
        std::fs::write(stage.transcript(), lines.join("\n") + "\n").unwrap();
        let stop = json!({ "stop_hook_active": false, "last_assistant_message": "I read it, and all tests pass." });
        let reason = stage.event("Stop", stop).reason();
        assert!(reason.contains("all tests pass"), "{kept}: {reason}");
    }
}

#[test]
fn a_sub_agent_that_looked_may_report() {
    let mut stage = Stage::new();
    stage.user("Where is the bug?");
    let own = stage.desk.path().join("agent/agent-1.jsonl");
    let line = |kind: &str, content: serde_json::Value| {
        let message = json!({ "role": kind, "content": content });
        json!({
            "type": kind, "isSidechain": true, "agentId": "a1", "sessionId": stage.session,
            "uuid": "x", "parentUuid": null, "timestamp": "2020-01-01T10:00:00Z", "message": message,
        })
    };
    let read = json!([{ "type": "tool_use", "id": "t1", "name": "Read",
                        "input": { "file_path": "src/lib.rs" } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t1",
                          "content": "     1→fn add() {}\n     2→fn sub() {}\n" }]);
    let text = "The bug is in `src/lib.rs:2`: `sub` is empty.";
    let lines = [
        line("user", json!("Find the bug")),
        line("assistant", read),
        line("user", result),
        line("assistant", json!([{ "type": "text", "text": text }])),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&own, lines).unwrap();
    stage
        .event(
            "SubagentStop",
            json!({
                "stop_hook_active": false, "agent_id": "a1", "agent_type": "Explore",
                "agent_transcript_path": own, "last_assistant_message": text,
            }),
        )
        .passes();
}
