use serde_json::{Value, json};

use super::super::scenario::Action;
use super::{list, served, text};

pub(super) fn words(body: &Value) -> String {
    let users = list(body, "contents").iter().filter(|c| c["role"] == "user");
    users.map(|c| text(&c["parts"])).collect::<Vec<_>>().join("\n")
}

/// Whether this is one of the short questions that the program asks outside the session.
pub(super) fn wants_json(body: &Value) -> bool {
    let kind = body["generationConfig"]["responseMimeType"].as_str();
    kind.is_some_and(|kind| kind.contains("json"))
}

pub(super) fn judgement(body: &Value) -> String {
    let config = &body["generationConfig"];
    let schema = format!("{}{}", config["responseJsonSchema"], config["responseSchema"]);
    let answer = if schema.contains("next_speaker") {
        json!({ "reasoning": "It is done.", "next_speaker": "user" })
    } else if schema.contains("complexity_score") {
        json!({ "complexity_reasoning": "It is easy.", "complexity_score": 10 })
    } else {
        json!({ "reasoning": "It is easy.", "model_choice": "flash" })
    };
    answer.to_string()
}

/// A sub-agent reports by calling `complete_task`.
pub(super) fn block(action: &Action, tools: &[String], alone: bool) -> Value {
    let (name, args) = match action {
        Action::Say(text) if alone && tools.iter().any(|t| t == "complete_task") => {
            ("complete_task", json!({ "result": { "response": text } }))
        }
        Action::Say(text) => return json!({ "text": text }),
        Action::Wait => return json!({ "text": "I wait." }),
        Action::Run(command) | Action::RunInBackground(command) => {
            ("run_shell_command", json!({ "command": command, "description": "Runs it" }))
        }
        Action::Read(path) => ("read_file", json!({ "file_path": path })),
        Action::Edit { path, old, new } => (
            "replace",
            json!({
                "file_path": path, "instruction": "Change it.", "old_string": old,
                "new_string": new, "allow_multiple": false,
            }),
        ),
        Action::Write { path, text } => {
            ("write_file", json!({ "file_path": path, "content": text }))
        }
        Action::Call { tool, arguments } => {
            (served(tools, tool).unwrap_or(tool), arguments.clone().into())
        }
        Action::Delegate(task) | Action::DelegateInBackground(task) => {
            ("invoke_agent", json!({ "agent_name": "generalist", "prompt": task }))
        }
    };
    json!({ "functionCall": { "name": name, "args": args } })
}

pub(super) fn encoded(path: &str, blocks: &[Value]) -> (&'static str, String) {
    let content = json!({ "role": "model", "parts": blocks });
    let tokens = json!({
        "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120,
    });
    let reply = json!({
        "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": tokens, "modelVersion": "scripted",
    });
    if path.ends_with(":streamGenerateContent") {
        ("text/event-stream", format!("data: {reply}\r\n\r\n"))
    } else {
        ("application/json", reply.to_string())
    }
}
