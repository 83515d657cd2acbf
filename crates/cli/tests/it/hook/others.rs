//! Other agents, as far as they publish what they send and understand.

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
    let denied = event(&stage, "codex", "PreToolUse", call("sudo ls")).json();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
    // It knows no `ask`.
    let search = json!({
        "tool_name": "web_search", "tool_use_id": "c2",
        "tool_input": { "query": "AKIAIOSFODNN7EXAMPLE" },
    });
    let asked = event(&stage, "codex", "PreToolUse", search).json();
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "deny");
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
    event(&stage, "codex", "Stop", stop).passes();
    let stop = json!({ "transcript_path": null, "stop_hook_active": false });
    event(&stage, "codex", "Stop", stop).warns("names no transcript");
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
    let denied = event(&stage, "gemini", "BeforeTool", call("sudo ls")).json();
    assert_eq!(denied["decision"], "deny");
    assert!(denied["reason"].as_str().unwrap().contains("`sudo` is a blocked command"));
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
