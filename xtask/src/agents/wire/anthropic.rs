use serde_json::{Value, json};

use super::super::scenario::Action;
use super::served;

pub(super) fn block(action: &Action, tools: &[String], id: usize) -> Value {
    // The agent lists such tools only for models that search for them, but runs them anyway.
    let hidden = |tool: &str| format!("mcp__files__{tool}");
    let unseen;
    let (name, input) = match action {
        Action::Say(text) => return json!({ "type": "text", "text": text }),
        Action::Wait => return json!({ "type": "text", "text": "I wait." }),
        Action::Run(command) => ("Bash", json!({ "command": command, "description": "Runs it" })),
        Action::RunInBackground(command) => (
            "Bash",
            json!({ "command": command, "description": "Runs it", "run_in_background": true }),
        ),
        Action::Read(path) => ("Read", json!({ "file_path": path })),
        Action::Edit { path, old, new } => {
            ("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
        }
        Action::Write { path, text } => ("Write", json!({ "file_path": path, "content": text })),
        Action::Call { tool, arguments } => {
            unseen = hidden(tool);
            (served(tools, tool).unwrap_or(&unseen), arguments.clone().into())
        }
        Action::Delegate(task) => (delegate(tools), task_of(task)),
        Action::DelegateInBackground(task) => {
            let mut input = task_of(task);
            input["run_in_background"] = true.into();
            (delegate(tools), input)
        }
    };
    json!({ "type": "tool_use", "id": format!("toolu_{id:024}"), "name": name, "input": input })
}

fn delegate(tools: &[String]) -> &'static str {
    if tools.iter().any(|t| t == "Agent") { "Agent" } else { "Task" }
}

fn task_of(task: &str) -> Value {
    json!({ "description": "A task", "prompt": task, "subagent_type": "general-purpose" })
}

pub(super) fn encoded(body: &Value, blocks: &[Value], number: usize) -> (&'static str, String) {
    let calls = blocks.iter().any(|b| b["type"] == "tool_use");
    let reason = if calls { "tool_use" } else { "end_turn" };
    let usage = json!({
        "input_tokens": 100, "output_tokens": 20,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    });
    let mut message = json!({
        "id": format!("msg_{number:024}"), "type": "message", "role": "assistant",
        "model": body["model"], "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage,
    });
    if body["stream"] != true {
        message["content"] = blocks.into();
        message["stop_reason"] = reason.into();
        return ("application/json", message.to_string());
    }
    let mut events = vec![("message_start", json!({ "message": message }))];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = if block["type"] == "text" {
            let delta = json!({ "type": "text_delta", "text": block["text"] });
            (json!({ "type": "text", "text": "" }), delta)
        } else {
            let mut start = block.clone();
            start["input"] = json!({});
            let json = block["input"].to_string();
            (start, json!({ "type": "input_json_delta", "partial_json": json }))
        };
        events.push(("content_block_start", json!({ "index": index, "content_block": start })));
        events.push(("content_block_delta", json!({ "index": index, "delta": delta })));
        events.push(("content_block_stop", json!({ "index": index })));
    }
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    events.push(("message_delta", json!({ "delta": delta, "usage": usage })));
    events.push(("message_stop", json!({})));
    ("text/event-stream", super::events(events))
}
