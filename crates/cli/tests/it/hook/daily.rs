//! Hooks in daily use: modes, ids, undo, warnings.

use serde_json::{Value, json};

use super::stage::{Answered, Stage};

fn bash(command: &str, id: &str, mode: &str) -> Value {
    json!({
        "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id,
        "permission_mode": mode,
    })
}

/// The hook's decision: `deny`, `ask`, `note` or `pass`.
fn word(answered: &Answered) -> String {
    if answered.out.is_empty() {
        return "pass".to_owned();
    }
    let specific = &answered.json()["hookSpecificOutput"];
    specific["permissionDecision"].as_str().unwrap_or("note").to_owned()
}

#[test]
fn where_questions_are_switched_off_what_is_lost_for_good_is_denied() {
    let mut stage = Stage::new();
    let modes: [(&[(&str, &str)], &str); 4] = [
        (&[], "default"),
        (&[], "bypassPermissions"),
        (&[("COUNTERFOIL_HOOKS_WITHOUT_QUESTIONS", "deny")], "bypassPermissions"),
        (&[("COUNTERFOIL_HOOKS_WITHOUT_QUESTIONS", "ask")], "bypassPermissions"),
    ];
    for (command, expected) in [
        ("mv ~/.claude elsewhere", ["ask", "deny", "deny", "ask"]),
        ("git reset --hard", ["ask", "deny", "deny", "ask"]),
        ("cat ~/.ssh/id_ed25519", ["ask", "deny", "deny", "ask"]),
        ("eval \"$X\"", ["ask", "note", "deny", "ask"]),
        ("claude --settings '{}' -p hi", ["ask", "deny", "deny", "ask"]),
        ("claude --version", ["pass", "pass", "pass", "pass"]),
        ("cargo test", ["pass", "pass", "pass", "pass"]),
        ("rm -rf target", ["pass", "pass", "pass", "pass"]),
    ] {
        for (number, ((variables, mode), expected)) in modes.iter().zip(expected).enumerate() {
            stage.variables = variables.to_vec();
            let call = bash(command, &format!("{command} {number}"), mode);
            let answered = stage.event("PreToolUse", call);
            assert_eq!(word(&answered), expected, "{command} {mode} {variables:?} {answered:?}");
        }
    }
}

#[test]
fn a_denial_names_its_call_which_then_waits_for_somebody() {
    let stage = Stage::new();
    let call = bash("git reset --hard", "t1", "bypassPermissions");
    let answered = stage.event("PreToolUse", call).json();
    let reason = answered["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    let id = reason.split_once("[call ").unwrap().1.trim_end_matches(']').to_owned();
    assert!(id.starts_with("Bash_"), "{reason}");
    let state = stage.desk.path().join("state").display().to_string();
    let run = |words: &[&str]| stage.desk.spawn(&[("COUNTERFOIL_STATE", &state)], words, "");
    let listed = run(&["approve", "--list"]);
    assert!(listed.out.starts_with(&id) && listed.out.contains("git reset --hard"), "{listed}");
    let unconfirmed = run(&["approve", "--last"]);
    assert_eq!(unconfirmed.code, 2, "nobody is at a terminal: {unconfirmed}");
    assert!(unconfirmed.err.contains("not approved"), "{unconfirmed}");
}

#[test]
fn another_agent_starts_where_its_user_allows_it() {
    let rule = "[[tools.permissions.rules]]\ntool = \"Bash\"\npattern = \"claude -p *\"\n\
                action = \"allow\"\n";
    for (file, expected) in [("", "deny"), (rule, "pass")] {
        let stage = Stage::with(&[("home/.config/counterfoil/counterfoil.toml", file)]);
        let answered = stage.event("PreToolUse", bash("claude -p hi", "t1", "bypassPermissions"));
        assert_eq!(word(&answered), expected, "{answered:?}");
        let names_own_rule = answered.out.contains("your own rule under `[tools.permissions]`");
        assert_eq!(names_own_rule, expected == "deny", "{answered:?}");
    }
}

#[test]
fn the_state_is_no_reading_wherever_it_is() {
    let stage = Stage::new();
    let state = stage.desk.path().join("state").display().to_string();
    for (command, expected) in [
        (format!("cp -r {state} copy"), "ask"),
        (format!("tar czf copy.tgz {state}"), "ask"),
        (format!("cat < {state}/ledger.db.key"), "ask"),
        (format!("rsync -a {state}/ copy/"), "ask"),
        (format!("flock {state}/lock sleep 9"), "ask"),
        (format!("python3 -c \"import fcntl; fcntl.flock(open('{state}/ledger.db'), 2)\""), "ask"),
        (format!("ls {state}"), "pass"),
        ("cp -r src copy".to_owned(), "pass"),
    ] {
        let answered = stage.event("PreToolUse", bash(&command, &command, "default"));
        assert_eq!(word(&answered), expected, "{command} {answered:?}");
    }
    let read = json!({ "tool_name": "Read", "tool_use_id": "r",
        "tool_input": { "file_path": format!("{state}/audit.jsonl") } });
    assert_eq!(word(&stage.event("PreToolUse", read)), "ask");
}

#[test]
fn what_a_command_changed_is_undone_where_its_user_wants_that() {
    let mut stage = Stage::with(&[("kept.txt", "before\n")]);
    let file = stage.desk.path().join("kept.txt");
    let state = stage.desk.path().join("state").display().to_string();
    for (setting, code) in [("false", 2), ("true", 0)] {
        std::fs::write(&file, "before\n").unwrap();
        stage.variables = vec![("COUNTERFOIL_HOOKS_UNDO", setting)];
        let id = format!("t-{setting}");
        let call = bash("echo after > kept.txt", &id, "default");
        assert_eq!(word(&stage.event("PreToolUse", call.clone())), "pass");
        std::fs::write(&file, "after\n").unwrap();
        let mut ended = call;
        ended["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
        assert_eq!(word(&stage.event("PostToolUse", ended)), "pass");
        let undone = stage.desk.spawn(&[("COUNTERFOIL_STATE", &state)], &["undo", "--last"], "");
        assert_eq!(undone.code, code, "{setting}: {undone}");
        let expected = if setting == "true" { "before\n" } else { "after\n" };
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expected, "{setting}");
    }
}

#[test]
fn a_session_begins_with_the_protocol_where_the_event_is_sent() {
    let stage = Stage::new();
    let began = stage.event("SessionStart", json!({ "source": "startup" })).json();
    let context = began["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(context, stage.desk.run("prompt").out);
}

#[test]
fn a_tool_that_takes_commands_is_a_shell_no_matter_who_made_it() {
    let stage = Stage::new();
    for (tool, input, expected) in [
        ("mcp__shell__exec", json!({ "command": "rm -rf /" }), "deny"),
        ("mcp__host__run", json!({ "script": "sudo ls" }), "ask"),
        ("BASH", json!({ "command": "rm -rf /" }), "deny"),
        ("mcp__shell__exec", json!({ "command": "ls" }), "pass"),
        ("mcp__notes__add", json!({ "command": "rm -rf /" }), "pass"),
    ] {
        let call = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": tool });
        assert_eq!(word(&stage.event("PreToolUse", call)), expected, "{tool} {input}");
    }
}

#[test]
fn explain_says_what_the_hook_would_do() {
    let stage = Stage::new();
    for (agent, command, more, expected, code) in [
        ("claude-code", "git reset --hard", None, "ask", 1),
        ("claude-code", "git reset --hard", Some("--without-questions"), "deny", 1),
        ("claude-code", "eval $X", Some("--without-questions"), "note", 0),
        ("codex", "git reset --hard", None, "deny", 1),
        ("claude-code", "cargo test", None, "allow", 0),
    ] {
        let args = json!({ "command": command }).to_string();
        let mut words = vec![
            "policy", "explain", "--agent", agent, "--tool", "Bash", "--format", "json", "--args",
            &args,
        ];
        words.extend(more);
        let ran = stage.desk.spawn(&[], &words, "");
        let explained: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (explained["verdict"].as_str(), ran.code),
            (Some(expected), code),
            "{agent} {command} {ran}"
        );
    }
}

#[test]
fn the_status_says_that_nothing_can_be_recorded() {
    let stage = Stage::with(&[("file", "")]);
    for (place, code) in [("file", 1), ("file/state", 1), ("new/state", 0)] {
        let state = stage.desk.path().join(place).display().to_string();
        let ran = stage.desk.spawn(&[("COUNTERFOIL_STATE", &state)], &["hook", "status"], "");
        assert_eq!(ran.code, code, "{place}: {ran}");
        assert_eq!(ran.out.contains("nothing can be recorded"), code == 1, "{place}: {ran}");
    }
}
