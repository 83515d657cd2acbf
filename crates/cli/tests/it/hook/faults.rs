//! Whatever goes wrong, the agent continues, and a message reports it.

use serde_json::json;

use super::stage::Stage;
use crate::Desk;

const CLAIM: &str = "All tests pass.";

#[test]
fn no_transcript() {
    let stage = Stage::new();
    stage.stop(CLAIM).warns("cannot be read");
    let event = json!({ "session_id": "s1", "hook_event_name": "Stop" });
    stage.sent("claude-code", &event.to_string()).warns("did not name its transcript");
    std::fs::create_dir(stage.transcript()).unwrap();
    stage.stop(CLAIM).warns("not a regular file");
}

#[test]
fn garbage() {
    let stage = Stage::new();
    for (input, expected) in [
        ("", "not JSON"),
        ("not json", "not JSON"),
        ("[1]", "not a JSON object"),
        ("{}", "no `hook_event_name`"),
        (r#"{"hook_event_name":"Stop"}"#, "no `session_id`"),
        (r#"{"hook_event_name":"PreToolUse","session_id":"s"}"#, "no `tool_name`"),
    ] {
        stage.sent("claude-code", input).warns(expected);
    }
    // Unknown events and members are ignored.
    stage.event("BrandNew", json!({ "surprise": [1, 2] })).passes();
    stage.event("PreToolUse", json!({ "tool_name": "BrandNew", "tool_input": {} })).passes();
    let twice = r#"{"hook_event_name":"Stop","session_id":"s","a":1,"a":2}"#;
    for file in [
        "[hooks]\non_failure = \"closed\"\n",
        "hooks = { on_failure = \"closed\" }\n",
        "[hooks]\non_failure = \"ask\"\n",
    ] {
        let stage = Stage::with(&[("home/.config/counterfoil/counterfoil.toml", file)]);
        for input in
            ["", "not json", "{}", "{}{}", r#"{"hook_event_name":"PreToolUse","session_id":"s"}"#]
        {
            let refused = stage.sent("claude-code", input);
            assert_eq!((refused.code, &*refused.out), (2, ""), "{refused:?}");
            assert!(refused.err.contains("could not judge this call"), "{refused:?}");
        }
        // This one is known to announce no call.
        stage.sent("claude-code", twice).warns("twice");
        stage.event("BrandNew", json!({ "surprise": [1, 2] })).passes();
    }
    let mut stage = Stage::new();
    stage.variables.push(("COUNTERFOIL_HOOKS_ON_FAILURE", "closed"));
    assert_eq!(stage.sent("claude-code", "not json").code, 2);
}

#[test]
fn what_strict_json_refuses_is_judged_all_the_same() {
    let stage = Stage::new();
    let deep = |depth: usize| format!(",\"x\":{}{}", "[".repeat(depth), "]".repeat(depth));
    let inputs = [
        r#"{"command":"rm -rf /","description":"\ud800"}"#.to_owned(),
        r#"{"command":"rm -rf / #\udfff"}"#.to_owned(),
        r#"{"command":"rm -rf /","t":1e999}"#.to_owned(),
        format!(r#"{{"command":"rm -rf /"{}}}"#, deep(70)),
        format!(r#"{{"command":"rm -rf /"{}}}"#, deep(130)),
        format!(r#"{{"command":"rm -rf /"{}}}"#, deep(5_000)),
        format!(r#"{{"command":"rm -rf /","description":"{}"}}"#, "x".repeat(1_100_000)),
        r#""{\"command\":\"rm -rf /\"}""#.to_owned(),
        r#""rm -rf /""#.to_owned(),
        r#"["rm -rf /"]"#.to_owned(),
        "7".to_owned(),
    ];
    for (agent, event, tool) in [
        ("claude-code", "PreToolUse", "Bash"),
        ("codex", "PreToolUse", "Bash"),
        ("gemini", "BeforeTool", "run_shell_command"),
    ] {
        for (number, input) in inputs.iter().enumerate() {
            let sent = format!(
                "\u{feff}{{\"session_id\":\"s1\",\"hook_event_name\":\"{event}\",\"tool_name\":\"{tool}\",\
                 \"tool_use_id\":\"t{number}\",\"tool_input\":{input}}}"
            );
            let answered = stage.sent(agent, &sent);
            let beginning: String = input.chars().take(80).collect();
            assert!(answered.out.contains("\"deny\""), "{agent}, {beginning}: {answered:?}");
        }
    }
}

#[test]
fn an_event_with_a_member_twice_is_refused() {
    let stage = Stage::new();
    let event = |members: &str| {
        format!(
            "{{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\
             \"tool_use_id\":\"t\",\"tool_input\":{{\"command\":\"ls\"}}{members}}}"
        )
    };
    assert_eq!(stage.sent("claude-code", &event("")).out, "");
    for members in [
        ",\"tool_input\":{\"command\":\"ls\"}",
        ",\"tool_name\":\"Read\"",
        ",\"tool_n\\u0061me\":\"Read\"",
        ",\"hook_event_name\":\"SessionEnd\"",
        ",\"x\":{\"a\":1,\"a\":2}",
    ] {
        let answered = stage.sent("claude-code", &event(members));
        assert!(answered.out.contains("\"deny\""), "{members}: {answered:?}");
        assert!(answered.out.contains("twice"), "{members}: {answered:?}");
    }
}

#[test]
fn a_half_written_last_line() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.raw(r#"{"type":"assistant","message":{"role":"assistant","content":[{"ty"#);
    stage.stop(CLAIM).reason();
    // It is read once it is complete.
    stage.raw("pe\":\"text\",\"text\":\"Hm.\"}]}}\n");
    stage.stop("I did not run the tests.").passes();
}

#[test]
fn lines_that_are_no_json() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.raw("\u{0}\u{0}\u{0}\nnot json\n{\"type\":\"brand-new\"}\n");
    stage.edit("src/lib.rs");
    let answered = stage.stop(CLAIM);
    assert_eq!(answered.code, 0, "{answered:?}");
    // The missing part may be the test run, so nothing is proven and nothing blocks.
    assert_eq!(answered.json().get("decision"), None, "{answered:?}");
}

#[test]
fn a_compacted_session_is_not_accused() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.line(json!({ "type": "system", "subtype": "compact_boundary", "content": "" }));
    stage.line(json!({
        "type": "user", "isCompactSummary": true,
        "message": { "role": "user", "content": "The tests were run before, and passed." },
    }));
    stage.edit("src/lib.rs");
    let answered = stage.stop("I fixed it; all tests pass.");
    assert_eq!(answered.json().get("decision"), None, "{answered:?}");
}

#[test]
fn another_file_under_the_same_name() {
    let mut stage = Stage::new();
    stage.hooked = false;
    stage.user("Fix it.");
    stage.bash("cargo test", "test result: ok. 42 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s\n");
    stage.stops("All 42 tests pass.").passes();
    // After a rewind the file starts over, and what was remembered of it is void.
    std::fs::remove_file(stage.transcript()).unwrap();
    stage.begins_anew();
    stage.user("Fix something else in src/main.rs.");
    stage.edit("src/main.rs");
    stage.stops(CLAIM).reason();
}

#[test]
fn a_damaged_memory_is_an_empty_one() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.stops(CLAIM).reason();
    for entry in std::fs::read_dir(stage.desk.path().join("state/hooks")).unwrap() {
        let path = entry.unwrap().path();
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        std::fs::write(path, b"counterfoil hook memory 1\nm\xff\xff\xff\xff\xffgarbage").unwrap();
    }
    stage.stops(CLAIM).reason();
}

#[test]
fn a_state_that_cannot_be_written() {
    let mut stage = Stage::with(&[("file", "")]);
    let below = Box::leak(
        stage.desk.path().join("file/state").to_str().unwrap().to_owned().into_boxed_str(),
    );
    stage.hooked = false;
    stage.variables = vec![("COUNTERFOIL_STATE", below)];
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.says(CLAIM);
    // The answer is judged anyway, but the number of attempts is unknown.
    let answered = stage.stop(CLAIM);
    answered.reason();
    assert!(
        answered.json()["systemMessage"].as_str().unwrap().contains("this session is not recorded")
    );
    let again = json!({ "stop_hook_active": true, "last_assistant_message": CLAIM });
    let again = stage.event("Stop", again);
    again.warns("the record does not support everything");
    assert!(!again.out.contains("this session is not recorded"), "once a session: {again:?}");
    // The blocklist needs no record.
    let call =
        json!({ "tool_name": "Bash", "tool_input": { "command": "reboot" }, "tool_use_id": "t" });
    let denied = stage.event("PreToolUse", call.clone());
    assert_eq!(denied.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{denied:?}");
    stage.variables.push(("COUNTERFOIL_HOOKS_ON_FAILURE", "closed"));
    let harmless =
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t" });
    let denied = stage.event("PreToolUse", harmless);
    assert_eq!(denied.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{denied:?}");
}

#[test]
fn a_broken_configuration() {
    let call = |command: &str| json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t" });
    let denied = |answered: &super::stage::Answered| {
        answered.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    };
    let user = "home/.config/counterfoil/counterfoil.toml";
    for (file, config, closed) in [
        (user, "[hooks\n", false),
        (user, "[hooks]\nblocks_in_a_row = 0\n", false),
        (user, "[hooks]\nno_such_key = 1\n", false),
        (user, "[hooks]\non_failure = \"closed\"\nno_such_key = 1\n", true),
        (user, "[hooks]\non_failure = \"closed\"\n[tools", true),
        (user, "[hooks]\non_failure = \"ask\"\n[tools", false),
        ("counterfoil.toml", "[hooks\n", false),
        ("counterfoil.toml", "\u{0}", false),
    ] {
        let mut stage = Stage::with(&[(file, config)]);
        let answered = stage.event("PreToolUse", call("ls"));
        if closed {
            assert!(denied(&answered), "{config}: {answered:?}")
        } else if config.contains("ask") {
            let answer = answered.json();
            assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{config}");
            continue;
        } else {
            answered.passes()
        }
        // A broken configuration cannot allow what no configuration allows.
        let answered = stage.event("PreToolUse", call("rm -rf /"));
        assert!(denied(&answered), "{config}: {answered:?}");
        // A stop always passes, with a warning.
        stage.user("Hello.");
        stage.stop("Hello. What can I do?").warns("counterfoil.toml");
    }
}

/// INVARIANT: a project's file never turns off what the user decided, whatever it contains.
#[test]
fn a_projects_file_loosens_nothing() {
    let user = "[hooks]\nblock_network_commands = true\n[[tools.permissions.rules]]\ntool = \"Bash\"\npattern = \"git push*\"\naction = \"deny\"\n[tools.blocklist]\nblocked_commands = [\"terraform\"]\n";
    for project in [
        "[tools.permissions]\nrules = []\n",
        "[[tools.permissions.rules]]\ntool = \"Bash\"\npattern = \"git push*\"\naction = \"allow\"\n",
        "[hooks]\nblock_network_commands = false\nstop = \"off\"\n",
        "[tools.blocklist]\nallow_network = true\nblocked_commands = []\n",
        "[rules]\nCS016 = \"off\"\n[check]\nignore = [\"CS016\"]\n",
        "[hooks]\non_failure = \"open\"\ntime_limit_ms = 100\n",
        "[hooks]\ntime_limit_ms = 1\n",
        "broken = [",
        "[unknown]\nkey = 1\n",
    ] {
        let desk = Desk::of_a_stranger(&[
            ("home/.config/counterfoil/counterfoil.toml", user),
            ("counterfoil.toml", project),
        ]);
        let mut stage = Stage::at(desk);
        for command in ["git push origin", "curl http://x.example", "terraform apply", "rm -rf /"] {
            let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t" });
            let answered = stage.event("PreToolUse", call);
            let decision = &answered.json()["hookSpecificOutput"]["permissionDecision"];
            assert_eq!(decision, "deny", "{project}: {command}: {answered:?}");
        }
        stage.user("Fix it.");
        stage.edit("src/lib.rs");
        stage.stops(CLAIM).reason();
    }
    // It may forbid more.
    let desk = Desk::of_a_stranger(&[(
        "counterfoil.toml",
        "[tools.blocklist]\nblocked_commands = [\"terraform\"]\n",
    )]);
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "terraform apply" }, "tool_use_id": "t" });
    let answered = Stage::at(desk).event("PreToolUse", call);
    assert!(answered.out.contains("\"deny\""), "{answered:?}");
}

#[test]
fn no_one_waits_longer_than_the_limit() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    let desk = Desk::with(&[]);
    // The agent keeps the pipe open, so the event never ends.
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterfoil"))
        .args(["hook", "claude-code", "--state", "state"])
        .current_dir(desk.path())
        .env("COUNTERFOIL_HOOKS_TIME_LIMIT_MS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(out.contains("timed out after 100 ms"), "{out}");
    drop(open);
}
