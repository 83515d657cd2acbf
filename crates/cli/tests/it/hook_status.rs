//! `hook status` and `check --latest`: the hooks and sessions on this machine.

use std::fs;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Desk, Ran};

fn shown(desk: &Desk, ran: &Ran) -> String {
    ran.to_string()
        .replace(&filed_as(desk), "HERE")
        .replace(&desk.path().display().to_string(), "DESK")
        .replace(env!("CARGO_BIN_EXE_counterfoil"), "BIN")
}

/// Returns the name of the folder as Claude Code files it.
fn filed_as(desk: &Desk) -> String {
    let here = desk.path().canonicalize().unwrap().display().to_string();
    here.replace(['/', '.', '\\', ':'], "-")
}

/// Returns a Claude Code session with Bash calls that have these ids.
fn session(id: &str, calls: &[&str]) -> String {
    let mut lines = vec![json!({
        "type": "user", "uuid": "u", "parentUuid": null, "sessionId": id, "cwd": "/p",
        "timestamp": "2099-01-01T00:00:00.000Z", "message": { "role": "user", "content": "go on" },
    })];
    let mut parent = "u".to_owned();
    for call in calls {
        let uuid = format!("a-{call}");
        lines.push(json!({
            "type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": id,
            "timestamp": "2099-01-01T00:00:01.000Z",
            "message": { "role": "assistant", "content": [
                { "type": "tool_use", "id": call, "name": "Bash", "input": { "command": "true" } },
            ]},
        }));
        lines.push(json!({
            "type": "user", "uuid": format!("r-{call}"), "parentUuid": uuid, "sessionId": id,
            "timestamp": "2099-01-01T00:00:02.000Z",
            "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": call, "content": "" },
            ]},
        }));
        parent = format!("r-{call}");
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn older(desk: &Desk, name: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - seconds);
    fs::File::options()
        .write(true)
        .open(desk.path().join(name))
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn nothing_is_installed_and_nothing_was_seen() {
    let desk = Desk::with(&[]);
    assert_snapshot!(desk.run("hook status"), @"
    exit 0
    claude-code
      not installed: run `counterfoil hook install claude-code`
      no events from its sessions
    codex
      not installed: run `counterfoil hook install codex`
      no events from its sessions
    gemini
      not installed: run `counterfoil hook install gemini`
      no events from its sessions
    tool calls without a receipt
      no session log found
    ");
    assert_eq!(desk.run("hook status gemini").code, 1, "it was asked for");
}

#[test]
fn calls_without_a_receipt_are_listed() {
    let log = session("s-1", &["call_1", "call_2"]);
    let desk = Desk::with(&[("home/.claude/projects/-p/s-1.jsonl", &log)]);
    let before = desk.run("hook status claude-code --format json");
    let before: Value = serde_json::from_str(&before.out).unwrap();
    assert_eq!(before["coverage"][0]["before_the_hook"], 2, "the hook never saw the session");

    let event = json!({
        "session_id": "s-1", "transcript_path": desk.path().join("none.jsonl"), "cwd": desk.path(),
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "true" }, "tool_use_id": "call_1",
    });
    let ran = desk.run_with("hook claude-code", &event.to_string());
    assert_eq!(ran.code, 0, "{ran}");
    for line in [
        "hook status --format json",
        "hook status --session s-1 --format json",
        "hook status --transcript home/.claude/projects/-p/s-1.jsonl --format json",
    ] {
        let ran = desk.run(line);
        assert_eq!(ran.code, 1, "{ran}");
        let status: Value = serde_json::from_str(&ran.out).unwrap();
        let session = &status["coverage"][0];
        assert_eq!(session["calls"], 2);
        assert_eq!(session["with_receipt"], 1);
        assert_eq!(
            session["uncovered"],
            json!([{ "tool": "Bash", "call_id": "call_2", "time": "2099-01-01T00:00:01Z", "line": 4 }])
        );
        assert_eq!(status["agents"][0]["last_event"]["session"], "s-1");
    }
    let ran = desk.run("hook status");
    let gaps: Vec<&str> = ran.out.lines().skip_while(|l| !l.starts_with("tool calls")).collect();
    assert_snapshot!(gaps.join("\n").replace(&desk.path().display().to_string(), "DESK"), @"
    tool calls without a receipt
      claude-code s-1: 2 calls, 1 with a receipt, 1 without, 0 from before the hook was active
        DESK/home/.claude/projects/-p/s-1.jsonl
        line 4      2099-01-01T00:00:01Z  Bash call_2
    ");
    let ran = desk.run("hook status --session other --format json");
    assert!(ran.code == 2 && ran.err.contains("a log of the session `other`"), "{ran}");
}

#[test]
fn an_installed_hook_that_cannot_run_is_wrong() {
    let text = json!({ "hooks": { "Stop": [{ "hooks": [
        { "type": "command", "command": "/nowhere/counterfoil hook claude-code" },
    ]}]}});
    let desk = Desk::with(&[
        ("home/.claude/settings.json", &text.to_string()),
        (".claude/settings.json", "{"),
        (".gemini/settings.json", "{ // none\n}"),
    ]);
    let ran = desk.run("hook status");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 1
    claude-code
      user     DESK/home/.claude/settings.json: /nowhere/counterfoil hook claude-code
               problem: no hook for PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, SubagentStop, SessionEnd
               problem: `/nowhere/counterfoil` was not found or is not executable
      project  DESK/.claude/settings.json
               problem: line 1: the text ends inside an object: the agent cannot read this file
      no events from its sessions
    codex
      not installed: run `counterfoil hook install codex`
      no events from its sessions
    gemini
      not installed: run `counterfoil hook install gemini`
      no events from its sessions
    tool calls without a receipt
      no session log found
    ");
}

#[test]
fn an_installed_hook_that_runs_is_well() {
    let desk = Desk::with(&[]);
    desk.run("hook install claude-code");
    let ran = desk.run("hook status claude-code");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 0
    claude-code
      user     DESK/home/.claude/settings.json: BIN hook claude-code
      no events from its sessions
    tool calls without a receipt
      no session log found
    ");
}

/// An agent may skip a hook silently: Codex does until the hook is trusted.
#[test]
fn a_hook_that_hears_nothing_of_a_newer_session_is_wrong() {
    let lines = [
        json!({ "type": "session_meta", "payload": { "id": "c-1", "cwd": "/p" } }),
        json!({ "type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Go." }],
        }}),
    ];
    let log: String = lines
        .into_iter()
        .map(|mut line| {
            line["timestamp"] = json!("2099-01-01T00:00:00.000Z");
            format!("{line}\n")
        })
        .collect();
    let desk = Desk::with(&[]);
    desk.run("hook install codex");
    assert_eq!(desk.run("hook status codex").code, 0);
    let folder = desk.path().join("home/.codex/sessions/2099/01/01");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rollout-2099-01-01T00-00-00-c-1.jsonl"), log).unwrap();
    let ran = desk.run("hook status codex");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 1
    codex
      user     DESK/home/.codex/hooks.json: BIN hook codex
               problem: session c-1 began after the hook was installed, but sent no event: Codex runs a hook only after you have trusted it; start `codex` and accept it, or see `/hooks`
      no events from its sessions
    tool calls without a receipt
      codex c-1: 0 calls, 0 with a receipt, 0 without, 0 from before the hook was active
    ");
}

/// A plugin named on the agent's command line appears in no settings; nor does a hook that was
/// removed after its last session.
#[test]
fn a_hook_that_a_plugin_brings_is_installed() {
    let log = session("s-1", &["call_1"]);
    for (variables, code) in [(&[("CLAUDE_PLUGIN_ROOT", "/p")][..], 0), (&[], 1)] {
        let desk = Desk::with(&[("home/.claude/projects/-p/s-1.jsonl", &log)]);
        assert_eq!(desk.run("hook status claude-code").code, 1);
        for event in [
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go on" }),
            json!({
                "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "call_1",
                "tool_input": { "command": "true" },
            }),
        ] {
            let mut event = event;
            event["session_id"] = json!("s-1");
            event["cwd"] = json!(desk.path());
            desk.spawn(variables, &["hook", "claude-code"], &event.to_string());
        }
        let ran = desk.run("hook status claude-code");
        assert_eq!(ran.code, code, "{ran}");
        assert_eq!(ran.out.contains("a plugin ran it"), code == 0, "{ran}");
    }
}

#[test]
fn the_latest_session_is_that_of_this_folder() {
    let claim = json!({
        "type": "assistant", "uuid": "a", "parentUuid": null, "sessionId": "s", "cwd": "/p",
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": { "role": "assistant", "content": [{ "type": "text", "text": "Hello." }] },
    });
    let claim = claim.to_string();
    let desk = Desk::with(&[
        ("home/.claude/projects/-elsewhere/new.jsonl", &claim),
        ("home/.claude/projects/-elsewhere/new/subagents/agent-1.jsonl", &claim),
    ]);
    let ran = desk.run("check --latest");
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(
        shown(&desk, &ran).lines().last().unwrap_or_default(),
        "checking the newest session of claude-code: \
         DESK/home/.claude/projects/-elsewhere/new.jsonl (no session found for this folder), \
         with the log of a sub-agent"
    );

    let here = format!("home/.claude/projects/{}", filed_as(&desk));
    fs::create_dir_all(desk.path().join(&here)).unwrap();
    for (name, seconds) in [("a.jsonl", 60), ("b.jsonl", 30), ("c.jsonl", 90)] {
        fs::write(desk.path().join(&here).join(name), &claim).unwrap();
        older(&desk, &format!("{here}/{name}"), seconds);
    }
    for line in ["check --latest", "check --latest claude-code"] {
        let ran = desk.run(line);
        assert_eq!(
            shown(&desk, &ran).lines().last().unwrap_or_default(),
            "checking the newest session of claude-code: DESK/home/.claude/projects/HERE/b.jsonl"
        );
    }
}

#[test]
fn the_latest_session_of_other_agents() {
    let rollout = |folder: &str| {
        let lines = [
            json!({"timestamp": "2026-02-01T10:00:00.000Z", "type": "session_meta",
                "payload": {"id": "cx-1", "cwd": folder}}),
            json!({"timestamp": "2026-02-01T10:00:01.000Z", "type": "response_item", "payload":
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}}),
        ];
        lines.map(|line| line.to_string()).join("\n")
    };
    let chat = json!({ "sessionId": "g-1", "projectHash": "x", "messages": [
        { "id": "1", "timestamp": "2026-02-01T10:00:00.000Z", "type": "user", "content": "x" },
    ]});
    let desk = Desk::with(&[
        ("home/.gemini/tmp/slug/chats/session-1.json", &chat.to_string()),
        ("cx/sessions/2026/02/01/rollout-1.jsonl", &rollout("/elsewhere")),
    ]);
    let codex = desk.path().join("cx");
    let variables = [("CODEX_HOME", codex.to_str().unwrap())];
    let own = rollout(desk.path().canonicalize().unwrap().to_str().unwrap());
    fs::write(codex.join("sessions/2026/02/01/rollout-0.jsonl"), own).unwrap();
    older(&desk, "cx/sessions/2026/02/01/rollout-0.jsonl", 0);
    for (line, expected) in [
        ("check --latest codex", "codex: DESK/cx/sessions/2026/02/01/rollout-0.jsonl"),
        ("check --latest", "codex: DESK/cx/sessions/2026/02/01/rollout-0.jsonl"),
        (
            "check --latest gemini",
            "gemini: DESK/home/.gemini/tmp/slug/chats/session-1.json (no session found for this folder)",
        ),
    ] {
        let ran = desk.run_in(&variables, line);
        let output = shown(&desk, &ran);
        assert_eq!(
            output.lines().last().unwrap_or_default(),
            format!("checking the newest session of {expected}")
        );
    }
    let root = desk.path().canonicalize().unwrap();
    fs::write(desk.path().join("home/.gemini/tmp/slug/.project_root"), root.to_str().unwrap())
        .unwrap();
    let ran = desk.run("check --latest gemini");
    assert!(ran.err.trim_end().ends_with("session-1.json"), "{ran}");
}

#[test]
fn a_log_without_hooks_is_refused() {
    let desk =
        Desk::with(&[("chat.json", "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}")]);
    let ran = desk.run("hook status --transcript chat.json");
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error: `chat.json` has the log format openai-chat, which no agent that supports hooks writes
      help: pass a log of claude-code, codex or gemini-cli
    ");
    assert_eq!(desk.run("hook status --transcript none.json").code, 2);
}

#[test]
fn no_session_at_all() {
    let desk = Desk::with(&[]);
    let ran = desk.run("check --latest claude-code");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 2
    --- stderr
    error: no agent sessions found on this machine
      help: places searched: claude-code: `DESK/home/.claude/projects/**/*.jsonl`; pass a log instead: `counterfoil check PATH`
    ");
}

/// A Codex sub-agent has its own rollout, which is not the session's.
#[test]
fn the_latest_session_is_no_sub_agents() {
    let rollout = |id: &str| {
        let meta = json!({ "id": id, "session_id": "root", "cwd": "/p" });
        format!("{}\n", json!({ "type": "session_meta", "payload": meta }))
    };
    let folder = "home/.codex/sessions/2026/01/01";
    let (root, child) =
        (format!("{folder}/rollout-1-root.jsonl"), format!("{folder}/rollout-2-child.jsonl"));
    let desk = Desk::with(&[(&root, &rollout("root")), (&child, &rollout("child"))]);
    older(&desk, &root, 60);
    older(&desk, &child, 30);
    let ran = desk.run("check --latest codex");
    assert!(ran.err.contains("rollout-1-root.jsonl"), "{ran}");
    assert!(ran.err.contains("with the log of a sub-agent"), "{ran}");
}
