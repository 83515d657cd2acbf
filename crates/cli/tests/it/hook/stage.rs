//! A coding agent without a model: it writes a transcript like the agent and starts the hook for
//! each event.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Desk;

/// One session on a desk.
pub(crate) struct Stage {
    pub(crate) desk: Desk,
    pub(crate) session: String,
    /// Whether tools call the hook; otherwise they appear only in the transcript.
    pub(crate) hooked: bool,
    pub(crate) variables: Vec<(&'static str, &'static str)>,
    lines: usize,
    calls: usize,
}

/// The answer of a hook.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        if self.out.is_empty() { Value::Null } else { serde_json::from_str(&self.out).unwrap() }
    }

    /// Returns the reason why the agent may not stop.
    #[track_caller]
    pub(crate) fn reason(&self) -> String {
        let answer = self.json();
        assert_eq!(answer["decision"], "block", "{self:?}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// Asserts that the hook has no opinion.
    #[track_caller]
    pub(crate) fn passes(&self) {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
    }

    /// Asserts that the hook does not block, and warns the user with this text.
    #[track_caller]
    pub(crate) fn warns(&self, text: &str) {
        assert_eq!(self.code, 0, "{self:?}");
        let answer = self.json();
        assert_eq!(answer.get("decision"), None, "{self:?}");
        assert_eq!(answer.get("hookSpecificOutput"), None, "{self:?}");
        let notice = answer["systemMessage"].as_str().unwrap_or_default();
        assert!(notice.contains(text), "{self:?}");
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self::at(Desk::with(files))
    }

    /// Creates a session on the given desk.
    pub(crate) fn at(desk: Desk) -> Self {
        let stage = Self {
            desk,
            session: "5a3f0c8e-0000-4000-8000-000000000001".to_owned(),
            hooked: true,
            variables: Vec::new(),
            lines: 0,
            calls: 0,
        };
        std::fs::create_dir_all(stage.transcript().parent().unwrap()).unwrap();
        stage
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.desk.path().join("agent/session.jsonl")
    }

    /// Sends an event as the agent would.
    pub(crate) fn event(&self, name: &str, members: Value) -> Answered {
        let mut event = json!({
            "session_id": self.session,
            "transcript_path": self.transcript(),
            "cwd": self.desk.path(),
            "permission_mode": "default",
            "hook_event_name": name,
        });
        for (key, value) in members.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.sent("claude-code", &event.to_string())
    }

    pub(crate) fn sent(&self, agent: &str, input: &str) -> Answered {
        let mut variables = self.variables.clone();
        let state = self.desk.path().join("state").to_str().unwrap().to_owned();
        if !variables.iter().any(|(name, _)| *name == "COUNTERFOIL_STATE") {
            variables.push(("COUNTERFOIL_STATE", Box::leak(state.into_boxed_str())));
        }
        let ran = self.desk.spawn(&variables, &["hook", agent], input);
        Answered { code: ran.code, out: ran.out.trim_end().to_owned(), err: ran.err }
    }

    pub(crate) fn line(&mut self, mut line: Value) {
        let before = (self.lines > 0).then(|| format!("u{}", self.lines));
        self.lines += 1;
        line["uuid"] = json!(format!("u{}", self.lines));
        line["parentUuid"] = json!(before);
        line["sessionId"] = json!(self.session);
        line["timestamp"] =
            json!(format!("2020-01-01T10:{:02}:{:02}.000Z", self.lines / 60, self.lines % 60));
        self.raw(&format!("{line}\n"));
    }

    /// Starts the transcript over: the next line is its first.
    pub(crate) fn begins_anew(&mut self) {
        self.lines = 0;
    }

    pub(crate) fn raw(&self, text: &str) {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.create(true).append(true).open(self.transcript()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn user(&mut self, text: &str) {
        if self.hooked {
            let answered = self.event("UserPromptSubmit", json!({ "prompt": text }));
            assert_eq!(answered.code, 0, "{answered:?}");
        }
        self.line(json!({ "type": "user", "message": { "role": "user", "content": text } }));
    }

    pub(crate) fn says(&mut self, text: &str) {
        let content = json!([{ "type": "text", "text": text }]);
        self.line(json!({
            "type": "assistant", "message": { "role": "assistant", "content": content },
        }));
    }

    /// Makes a successful call with this result.
    pub(crate) fn calls(&mut self, tool: &str, input: Value, response: Value, shown: &str) {
        let id = self.begins(tool, &input);
        if self.hooked {
            let answered = self.event(
                "PostToolUse",
                json!({
                    "tool_name": tool, "tool_input": input, "tool_use_id": id,
                    "tool_response": response,
                }),
            );
            assert_eq!(answered.code, 0, "{answered:?}");
        }
        self.result(&id, shown, false, response);
    }

    pub(crate) fn begins(&mut self, tool: &str, input: &Value) -> String {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        if self.hooked {
            self.event(
                "PreToolUse",
                json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id }),
            )
            .passes();
        }
        let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
        self.line(json!({
            "type": "assistant", "message": { "role": "assistant", "content": content },
        }));
        id
    }

    pub(crate) fn result(&mut self, id: &str, shown: &str, is_error: bool, details: Value) {
        let result = json!([{
            "type": "tool_result", "tool_use_id": id, "content": shown, "is_error": is_error,
        }]);
        self.line(json!({
            "type": "user", "message": { "role": "user", "content": result },
            "toolUseResult": details,
        }));
    }

    pub(crate) fn bash(&mut self, command: &str, output: &str) {
        let response = json!({ "stdout": output, "stderr": "", "interrupted": false });
        self.calls("Bash", json!({ "command": command }), response, output);
    }

    pub(crate) fn bash_fails(&mut self, command: &str, output: &str) {
        let input = json!({ "command": command });
        let id = self.begins("Bash", &input);
        let error = format!("Exit code 1\n{output}");
        if self.hooked {
            let answered = self.event(
                "PostToolUseFailure",
                json!({
                    "tool_name": "Bash", "tool_input": input, "tool_use_id": id, "error": error,
                }),
            );
            assert_eq!(answered.code, 0, "{answered:?}");
        }
        self.result(&id, &error, true, json!(format!("Error: {error}")));
    }

    pub(crate) fn edit(&mut self, path: &str) {
        let input = json!({ "file_path": path, "old_string": "a + b", "new_string": "a - b" });
        let shown = format!("The file {path} has been updated.");
        let response = json!({ "filePath": path, "oldString": "a + b", "newString": "a - b" });
        self.calls("Edit", input, response, &shown);
    }

    /// The agent says its last words and wants to stop.
    pub(crate) fn stops(&mut self, text: &str) -> Answered {
        self.says(text);
        self.stop(text)
    }

    pub(crate) fn stop(&self, text: &str) -> Answered {
        self.event("Stop", json!({ "stop_hook_active": false, "last_assistant_message": text }))
    }

    /// The agent is told why it may not stop.
    pub(crate) fn hears(&mut self, reason: &str) {
        let text = format!("Stop hook feedback:\n{reason}");
        self.line(json!({
            "type": "user", "isMeta": true, "message": { "role": "user", "content": text },
        }));
    }
}
