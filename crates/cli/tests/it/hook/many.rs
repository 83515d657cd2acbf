//! Many agents use one ledger at the same time.

use serde_json::json;

use super::stage::Stage;

#[test]
fn every_receipt_of_many_agents_is_there() {
    const AGENTS: usize = 8;
    const CALLS: usize = 4;
    let stage = Stage::new();
    std::thread::scope(|scope| {
        for agent in 0..AGENTS {
            let stage = &stage;
            scope.spawn(move || {
                // Each session has two of them, like an agent and its sub-agent.
                let session = format!("session-{}", agent / 2);
                for number in 0..CALLS {
                    let mut call = json!({
                        "session_id": session, "tool_name": "Bash", "agent_id": format!("a{agent}"),
                        "tool_input": { "command": format!("echo {agent} {number}") },
                        "tool_use_id": format!("toolu_{agent}_{number}"),
                    });
                    stage.event("PreToolUse", call.clone()).passes();
                    call["tool_response"] =
                        json!({ "stdout": "x", "stderr": "", "interrupted": false });
                    stage.event("PostToolUse", call).passes();
                }
            });
        }
    });
    let lines = stage.desk.run("audit query --format jsonl --result success --state state");
    let mut seen: Vec<String> = lines
        .out
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["correlation_id"].as_str().unwrap().to_owned()
        })
        .collect();
    seen.sort();
    let mut expected: Vec<String> = (0..AGENTS)
        .flat_map(|agent| (0..CALLS).map(move |number| format!("toolu_{agent}_{number}")))
        .collect();
    expected.sort();
    assert_eq!(seen, expected);
    let verified = stage.desk.run("audit verify --state state");
    assert_eq!(verified.code, 0, "{verified}");
}
