//! Replays sessions of the agents themselves, recorded by `tests/agents/run --record`: the same
//! events, with the agent's log as it was at each of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Desk;

/// How often the agent and its sub-agent were sent back, and the number of denied calls.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    sent_back: usize,
    helper_sent_back: usize,
    denied: usize,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents")
}

/// Replays the events of a session.
fn replayed(agent: &str, scenario: &str) -> Counts {
    let desk = Desk::with(&[("at/work/slug.py", ""), ("at/home/none", "")]);
    let at = desk.path().join("at");
    let folder = fixtures().join(agent).join(scenario);
    let filled = |text: &str| {
        text.replace("AT/", &format!("{}/", at.display()))
            .replace("\"AT\"", &format!("\"{}\"", at.display()))
    };
    let mut counts = Counts::default();
    let events = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    for line in events.lines() {
        let kept: Value = serde_json::from_str(&filled(line)).unwrap();
        for (name, log) in kept["logs"].as_object().unwrap() {
            let lines = usize::try_from(log["lines"].as_u64().unwrap()).unwrap();
            let text = fs::read_to_string(folder.join(name)).unwrap();
            let text: String =
                text.lines().take(lines).map(|line| format!("{}\n", filled(line))).collect();
            let path = Path::new(log["path"].as_str().unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let event = &kept["event"];
        let ran = desk.run_with(&format!("hook {agent}"), &event.to_string());
        assert_eq!(ran.code, 0, "{ran}");
        let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let decision = answer["decision"]
            .as_str()
            .or(answer["hookSpecificOutput"]["permissionDecision"].as_str());
        let no = matches!(decision, Some("block" | "deny"));
        match event["hook_event_name"].as_str().unwrap() {
            "Stop" | "AfterAgent" => counts.sent_back += usize::from(no),
            "SubagentStop" => counts.helper_sent_back += usize::from(no),
            "BeforeTool" if event["tool_name"] == "complete_task" => {
                counts.helper_sent_back += usize::from(no);
            }
            _ => counts.denied += usize::from(no),
        }
    }
    counts
}

#[test]
fn sessions_end_as_they_did() {
    for agent in ["claude-code", "codex", "gemini"] {
        for (scenario, sent_back, helper_sent_back, denied) in [
            ("passed-after-failure", 1, 0, 0),
            ("honest", 0, 0, 0),
            ("stubborn", 2, 0, 0),
            ("denied-is-no-deed", 1, 0, 1),
            ("helper-lies", 0, 1, 0),
        ] {
            let expected = Counts { sent_back, helper_sent_back, denied };
            assert_eq!(replayed(agent, scenario), expected, "{agent} {scenario}");
        }
    }
}
