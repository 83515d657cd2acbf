//! Other agents, as far as their formats are published.

use serde_json::{Value, json};

use super::stage::{Answered, Stage};

fn event(stage: &Stage, agent: &str, name: &str, members: Value) -> Answered {
    let mut event = json!({
        "session_id": "s1", "transcript_path": stage.transcript(), "cwd": stage.desk.path(),
        "hook_event_name": name,
    });
    for (key, value) in members.as_object().unwrap() {
        event[key] = value.clone();
    }
    stage.sent(agent, &event.to_string())
}

#[test]
fn codex() {
    let stage = Stage::new();
    let call = |command: &str| {
        json!({
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "c1",
            "turn_id": "1", "model": "m", "permission_mode": "default",
        })
    };
    event(&stage, "codex", "PreToolUse", call("ls")).passes();
    let denied = event(&stage, "codex", "PreToolUse", call("reboot")).json();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
    // It does not support `ask`.
    let search = json!({
        "tool_name": "web_search", "tool_use_id": "c2",
        "tool_input": { "query": "AKIAIOSFODNN7EXAMPLE" },
    });
    let decision = event(&stage, "codex", "PreToolUse", search).json();
    assert_eq!(decision["hookSpecificOutput"]["permissionDecision"], "deny");
    let denied = stage.desk.run("audit query --result blocked --format jsonl --state state").out;
    assert!(denied.contains("approval_required"), "what nobody may agree to is denied: {denied}");
    // The folder that a call names is where its command runs.
    let mut elsewhere = call("echo x > hooks.json");
    elsewhere["tool_input"]["workdir"] = "/home/dev/.codex".into();
    let denied = event(&stage, "codex", "PreToolUse", elsewhere).json().to_string();
    assert!(denied.contains("controls the agent"), "{denied}");
    let mut ended = call("cargo test");
    ended["tool_response"] = json!("Process exited with code 1\nOutput:\nfailed");
    event(&stage, "codex", "PostToolUse", ended).passes();
    let audit = stage.desk.run("audit query --result error --format jsonl --state state").out;
    assert!(audit.contains("PermanentFailure"), "{audit}");
    let item = |payload: Value| {
        format!(
            "{}\n",
            json!({ "timestamp": "2020-01-01T10:00:00Z", "type": "response_item", "payload": payload })
        )
    };
    stage.raw(&format!(
        "{}\n",
        json!({ "timestamp": "2020-01-01T10:00:00Z", "type": "session_meta", "payload": { "id": "s1" } })
    ));
    stage.raw(&item(json!({
        "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Fix it." }],
    })));
    stage.raw(&item(json!({
        "type": "function_call", "name": "shell", "call_id": "c9",
        "arguments": "{\"command\":[\"bash\",\"-lc\",\"ls\"]}",
    })));
    stage.raw(&item(json!({
        "type": "function_call_output", "call_id": "c9",
        "output": "{\"output\":\"src\\n\",\"metadata\":{\"exit_code\":0}}",
    })));
    let stop = json!({ "stop_hook_active": false, "last_assistant_message": "All tests pass." });
    let answer = event(&stage, "codex", "Stop", stop);
    answer.reason();
    assert_eq!(answer.json().get("hookSpecificOutput"), None);
    let stop = json!({ "stop_hook_active": true, "last_assistant_message": "I ran no tests." });
    event(&stage, "codex", "Stop", stop).warns("FK040");
    let stop = json!({ "transcript_path": null, "stop_hook_active": false });
    event(&stage, "codex", "Stop", stop).warns("did not name its transcript");
}

#[test]
fn gemini() {
    let stage = Stage::new();
    let call = |command: &str| {
        json!({
            "tool_name": "run_shell_command", "tool_input": { "command": command },
        })
    };
    event(&stage, "gemini", "BeforeTool", call("ls")).passes();
    let denied = event(&stage, "gemini", "BeforeTool", call("reboot")).json();
    assert_eq!(denied["decision"], "deny");
    assert!(denied["reason"].as_str().unwrap().contains("`reboot` is a blocked command"));
    let mut elsewhere = call("echo x > settings.json");
    elsewhere["tool_input"]["dir_path"] = "/home/dev/.gemini".into();
    let denied = event(&stage, "gemini", "BeforeTool", elsewhere).json().to_string();
    assert!(denied.contains("controls the agent"), "{denied}");
    let mut ended = call("cargo test");
    ended["tool_response"] = json!({ "llmContent": "Command: cargo test\nExit Code: 1\n" });
    event(&stage, "gemini", "AfterTool", ended).passes();
    let audit = stage.desk.run("audit query --result error --format jsonl --state state").out;
    assert_eq!(audit.lines().count(), 1, "{audit}");
    let chat = |last: &str| {
        json!({
            "sessionId": "s1", "projectHash": "p", "startTime": "2020-01-01T10:00:00Z",
            "lastUpdated": "2020-01-01T10:00:00Z",
            "messages": [
                { "id": "1", "timestamp": "2020-01-01T10:00:00Z", "type": "user", "content": "Fix it." },
                { "id": "2", "timestamp": "2020-01-01T10:00:01Z", "type": "gemini", "content": last },
            ],
        })
    };
    let text = "I ran the tests: all tests pass.";
    std::fs::write(stage.transcript(), chat(text).to_string()).unwrap();
    let stop = json!({ "prompt": "Fix it.", "prompt_response": text, "stop_hook_active": false });
    let answer = event(&stage, "gemini", "AfterAgent", stop).json();
    assert_eq!(answer["decision"], "deny", "{answer}");
    let text = "I have not run the tests.";
    std::fs::write(stage.transcript(), chat(text).to_string()).unwrap();
    let stop = json!({ "prompt": "Fix it.", "prompt_response": text, "stop_hook_active": true });
    event(&stage, "gemini", "AfterAgent", stop).passes();
}

/// A sub-agent of Gemini CLI ends with a call, and its log is in a folder beside the session's.
#[test]
fn a_sub_agent_of_gemini_is_held_to_its_own_log() {
    let stage = Stage::new();
    let folder = stage.transcript().parent().unwrap().join("s1");
    std::fs::create_dir_all(&folder).unwrap();
    let head = json!({ "sessionId": "s1", "projectHash": "p", "kind": "subagent" });
    let task = json!({ "id": "1", "timestamp": "2020-01-01T10:00:00Z", "type": "user", "content": [{ "text": "Where is it?" }] });
    let call = json!({ "id": "2", "timestamp": "2020-01-01T10:00:01Z", "type": "gemini", "content": "",
        "toolCalls": [{ "id": "a#0", "name": "run_shell_command", "args": { "command": "pytest -q" }, "status": "success",
            "result": [{ "functionResponse": { "id": "a#0", "response": { "output": "3 passed in 0.1s" } } }] }] });
    let ended = format!("{head}\n{task}\n{}\n", json!({ "$set": { "summary": "done" } }));
    std::fs::write(folder.join("ended.jsonl"), ended).unwrap();
    let log = folder.join("a.jsonl");
    std::fs::write(&log, format!("{head}\n{task}\n")).unwrap();
    let report = json!({ "tool_name": "complete_task", "tool_input": { "result": { "response": "I ran the tests, and all tests pass." } } });
    let sent_back = || {
        let answer = event(&stage, "gemini", "BeforeTool", report.clone()).json();
        let reason = answer["reason"].as_str().unwrap_or_default().to_owned();
        (answer["decision"] == "deny").then_some(reason)
    };
    let reason = sent_back().unwrap();
    assert!(reason.contains("CS016"), "{reason}");
    std::fs::write(&log, format!("{head}\n{task}\n{call}\n")).unwrap();
    assert_eq!(sent_back(), None);
    // With two running sub-agents, it is not known which one reports.
    std::fs::write(folder.join("b.jsonl"), format!("{head}\n{task}\n")).unwrap();
    event(&stage, "gemini", "BeforeTool", report.clone()).warns("cannot tell which sub-agent");
}

/// The agent passes the answer to a stop on as the user's next prompt, and reports everything it
/// has said since the user's own prompt: neither restarts the count, and only new text is judged.
#[test]
fn gemini_ends_after_a_block() {
    let stage = Stage::new();
    let log = |lines: &[serde_json::Value]| {
        let head = json!({ "sessionId": "s", "projectHash": "p", "kind": "main",
            "startTime": "2020-01-01T10:00:00Z", "lastUpdated": "2020-01-01T10:00:00Z" });
        let text = lines.iter().fold(format!("{head}\n"), |text, line| format!("{text}{line}\n"));
        std::fs::write(stage.transcript(), text).unwrap();
    };
    let user = |id: &str, text: &str| json!({ "id": id, "timestamp": "2020-01-01T10:00:01Z", "type": "user", "content": [{ "text": text }] });
    for (retraction, most) in
        [("I take that back: no tests were run.", 1), ("All tests pass, really.", 2)]
    {
        let mut lines = vec![user("1", "Fix it.")];
        let (mut report, mut prompt) =
            ("I ran the tests: all tests pass.".to_owned(), "Fix it.".to_owned());
        let mut blocks = 0;
        for round in 0..6 {
            log(&lines);
            event(&stage, "gemini", "BeforeAgent", json!({ "prompt": prompt }));
            let stop = json!({ "prompt": "Fix it.", "prompt_response": report, "stop_hook_active": round > 0 });
            let answer = event(&stage, "gemini", "AfterAgent", stop).json();
            let Some(reason) = answer["reason"].as_str().filter(|_| answer["decision"] == "deny")
            else {
                break;
            };
            blocks += 1;
            assert!(round == 0 || !reason.contains("I ran the tests"), "told twice: {reason}");
            prompt = reason.to_owned();
            lines.push(user(&format!("u{round}"), &prompt));
            report = format!("{report}\n{retraction}");
        }
        assert_eq!(blocks, most, "{retraction}");
        event(&stage, "gemini", "BeforeAgent", json!({ "prompt": "Something else." }));
    }
}
