use serde_json::{Value, json};

use super::super::scenario::Action;
use super::{list, served, text};

pub(super) fn words(body: &Value) -> String {
    let mut words = String::new();
    for item in list(body, "input") {
        // A sub-agent's task is a message of the agent that started it.
        let is_task = item["type"] == "agent_message" && item["author"] == "/root";
        if is_task || item["role"] == "user" {
            words.push_str(&text(&item["content"]));
        }
    }
    words
}

pub(super) fn thread(body: &Value) -> String {
    let id = body["client_metadata"]["thread_id"].as_str();
    id.or_else(|| body["prompt_cache_key"].as_str()).unwrap_or("only").to_owned()
}

pub(super) fn block(action: &Action, body: &Value, tools: &[String], id: usize) -> Value {
    let offered = |name: &str| tools.iter().any(|t| t == name);
    let call_id = format!("call_{id:024}");
    let shell = |command: String| match () {
        () if offered("exec_command") => ("exec_command", json!({ "cmd": command })),
        () if offered("shell_command") => ("shell_command", json!({ "command": command })),
        () => ("shell", json!({ "command": ["bash", "-lc", command] })),
    };
    let (name, arguments) = match action {
        Action::Say(text) => {
            let content = [json!({ "type": "output_text", "text": text, "annotations": [] })];
            let id = format!("msg_{id:024}");
            return json!({ "type": "message", "role": "assistant", "id": id, "content": content });
        }
        Action::Edit { .. } | Action::Write { .. } => {
            let patch = patch(action);
            if list(body, "tools")
                .iter()
                .any(|t| t["name"] == "apply_patch" && t["type"] == "custom")
            {
                return json!({
                    "type": "custom_tool_call", "call_id": call_id, "name": "apply_patch",
                    "input": patch,
                });
            }
            shell(format!("apply_patch <<'EOF'\n{patch}\nEOF"))
        }
        Action::Read(path) => shell(format!("cat {path}")),
        Action::Run(command) | Action::RunInBackground(command) => shell(command.clone()),
        Action::Call { tool, arguments } => {
            (served(tools, tool).unwrap_or(tool), arguments.clone().into())
        }
        Action::Wait => ("wait_agent", json!({})),
        Action::Delegate(task) | Action::DelegateInBackground(task) => {
            ("spawn_agent", json!({ "message": task, "task_name": "look" }))
        }
    };
    let mut call = json!({
        "type": "function_call", "call_id": call_id, "name": name,
        "arguments": arguments.to_string(),
    });
    let space = |t: &&Value| list(t, "tools").iter().any(|inner| inner["name"] == name);
    if let Some(space) = list(body, "tools").iter().find(space) {
        call["namespace"] = space["name"].clone();
    } else if let Action::Call { .. } = action {
        // The agent lists such tools only for models that search for them, but runs them anyway.
        call["namespace"] = "mcp__files".into();
    }
    call
}

fn patch(action: &Action) -> String {
    let marked = |text: &str, mark: char| {
        text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>()
    };
    match action {
        Action::Write { path, text } => {
            format!("*** Begin Patch\n*** Add File: {path}\n{}*** End Patch", marked(text, '+'))
        }
        Action::Edit { path, old, new } => format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n{}{}*** End Patch",
            marked(old, '-'),
            marked(new, '+'),
        ),
        _ => String::new(),
    }
}

pub(super) fn encoded(blocks: &[Value], number: usize) -> String {
    let id = format!("resp_{number:024}");
    let mut events = vec![("response.created", json!({ "response": { "id": id } }))];
    for (index, block) in blocks.iter().enumerate() {
        let mut added = block.clone();
        if block["type"] == "message" {
            added["content"] = json!([]);
        }
        let added = json!({ "output_index": index, "item": added });
        events.push(("response.output_item.added", added));
        if block["type"] == "message" {
            let delta = json!({
                "item_id": block["id"], "output_index": index, "content_index": 0,
                "delta": block["content"][0]["text"],
            });
            events.push(("response.output_text.delta", delta));
        }
        let done = json!({ "output_index": index, "item": block });
        events.push(("response.output_item.done", done));
    }
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": 120,
    });
    let response = json!({ "id": id, "usage": usage, "output": blocks });
    events.push(("response.completed", json!({ "response": response })));
    super::events(events)
}
