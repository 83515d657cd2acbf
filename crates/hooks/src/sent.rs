//! What the contracts have in common: reading an object whose members may be missing.

use std::path::PathBuf;

use counterfoil_formats::read_lenient_exact;
use counterfoil_guard::{HostEnded, HostedCall};
use counterfoil_model::{Agent, Arguments, ExactValue, Status, ToolCall, ToolErrorCategory};
use counterfoil_tools::ExitCause;
use serde_json::{Map, Value};

use crate::contract::ReadEventError;
use crate::event::{Event, Happening, Questions};
use crate::toolbox;

/// The members of what an agent sent.
pub(crate) struct Sent {
    members: Map<String, Value>,
    /// The arguments of a call, with every number as written.
    input: ExactValue,
}

impl Sent {
    pub(crate) fn parse(sent: &ExactValue) -> Result<Self, ReadEventError> {
        let members = sent.as_object().ok_or(ReadEventError::NotAnObject)?.clone();
        Ok(Self { members, input: sent.member("tool_input").unwrap_or_default() })
    }

    /// Whether the agent asks its user, from the name of its mode.
    fn questions(&self) -> Questions {
        const OFF: [&str; 4] = ["bypassPermissions", "yolo", "dangerFullAccess", "never"];
        let modes = ["permission_mode", "approval_mode", "approval_policy"];
        let off = modes.iter().any(|name| OFF.iter().any(|mode| self.is(name, mode)));
        if off { Questions::SwitchedOff } else { Questions::SwitchedOn }
    }

    /// A text that is not empty.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.members.remove(name)? {
            Value::String(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    pub(crate) fn needed(&mut self, name: &'static str) -> Result<String, ReadEventError> {
        self.text(name).ok_or(ReadEventError::Missing(name))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.members.get(name) == Some(&Value::Bool(true))
    }

    pub(crate) fn is(&self, name: &str, text: &str) -> bool {
        self.members.get(name).and_then(Value::as_str) == Some(text)
    }

    /// The folder in which Gemini CLI keeps the logs of a session's sub-agents.
    pub(crate) fn helpers(&self) -> Option<PathBuf> {
        let member = |name| self.members.get(name).and_then(Value::as_str);
        let log = std::path::Path::new(member("transcript_path")?);
        Some(log.parent()?.join(member("session_id")?))
    }

    pub(crate) fn value(&mut self, name: &str) -> Value {
        self.members.remove(name).unwrap_or_default()
    }

    /// Reads a tool call.
    pub(crate) fn call(&mut self, agent: Agent) -> Result<HostedCall, ReadEventError> {
        let name = self.needed("tool_name")?;
        let arguments = as_object(std::mem::take(&mut self.input));
        let call = ToolCall {
            id: self.text("tool_use_id").unwrap_or_default(),
            tool: name.clone(),
            arguments: Arguments::from(&arguments),
            line: 0,
        };
        Ok(HostedCall::new(call, toolbox::tool(agent, &name)))
    }

    /// Builds the event, once it is known what happened.
    pub(crate) fn event(
        mut self,
        name: String,
        happening: Happening,
    ) -> Result<Event, ReadEventError> {
        let transcript = self.text("transcript_path");
        // A sub-agent has its own file.
        let transcript = match name.as_str() {
            "SubagentStop" => self.text("agent_transcript_path"),
            _ => transcript,
        };
        Ok(Event {
            name,
            session: self.needed("session_id")?,
            agent: self.text("agent_id"),
            transcript: transcript.map(PathBuf::from),
            cwd: self.text("cwd").map(PathBuf::from),
            prompt: self.text("prompt_id").or_else(|| self.text("turn_id")),
            questions: self.questions(),
            happening,
        })
    }
}

/// Arguments as an object, if possible: a missing value counts as no arguments, and a text may
/// contain the object as JSON. Anything else stays as it is and is not considered harmless.
fn as_object(arguments: ExactValue) -> ExactValue {
    match arguments.value() {
        Value::Null => Value::Object(Map::new()).into(),
        Value::String(text) => match read_lenient_exact(text.as_bytes()) {
            Ok(read) if read.is_object() => read,
            _ => arguments,
        },
        _ => arguments,
    }
}

/// A call that completed.
pub(crate) fn completed(result: Value, exit_code: Option<i32>) -> HostEnded {
    HostEnded { status: Status::Completed, category: None, result, exit_code, truncated: false }
}

/// A call that failed. The category depends on the error text.
pub(crate) fn failed(error: &str, exit_code: Option<i32>, interrupted: bool) -> HostEnded {
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    let category = if interrupted {
        ToolErrorCategory::Cancelled
    } else if let Some(cause) = exit_code.and_then(|code| ExitCause::from_exit(code, error)) {
        cause.category()
    } else if says(&["timed out", "Timeout"]) {
        ToolErrorCategory::Timeout
    } else if says(&["InputValidationError", "invalid_type"]) {
        ToolErrorCategory::InvalidParameters
    } else if says(&["No such tool", "Unknown tool", "not found in registry"]) {
        ToolErrorCategory::ToolNotFound
    } else if says(&["doesn't want to proceed", "permission", "Permission", "denied by"]) {
        ToolErrorCategory::PolicyBlocked
    } else {
        ToolErrorCategory::PermanentFailure
    };
    let status = match category {
        ToolErrorCategory::Cancelled => Status::Cancelled,
        ToolErrorCategory::Timeout => Status::Timeout,
        _ => Status::Failed,
    };
    let result = Value::String(error.to_owned());
    HostEnded { status, category: Some(category), result, exit_code, truncated: false }
}

/// The number after the first of these words, in the first lines of a text.
pub(crate) fn code_after(text: &str, words: &[&str]) -> Option<i32> {
    text.lines().take(8).find_map(|line| {
        let after = words.iter().find_map(|word| line.split_once(word))?.1;
        let digits: String = after
            .trim_start_matches([':', ' '])
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '-')
            .collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_no_hidden_thinking() {
        const INPUT: &str = r#"{"_tafc_think":"PRIVATE","command":"ls"}"#;
        let text = serde_json::to_string(INPUT).unwrap();
        for agent in [Agent::ClaudeCode, Agent::Codex, Agent::Gemini] {
            for input in [INPUT, &text] {
                let event = format!("{{\"tool_name\":\"Bash\",\"tool_input\":{input}}}");
                let mut sent = Sent::parse(&read_lenient_exact(event.as_bytes()).unwrap()).unwrap();
                let hosted = sent.call(agent).unwrap();
                assert_eq!(hosted.arguments.to_string(), r#"{"command":"ls"}"#);
                assert_eq!(hosted.call.arguments.as_str(), r#"{"command":"ls"}"#);
            }
        }
    }

    #[test]
    fn a_call_has_every_digit_of_its_event() {
        const INPUT: &str = r#"{"id":123456789012345678901,"most":18446744073709551615,"rate":0.10000000000000000555}"#;
        let text = serde_json::to_string(INPUT).unwrap();
        let half = INPUT.replace('}', ",\"half\":\"\\ud83d\"}");
        for (input, read) in [
            (INPUT.to_owned(), INPUT.to_owned()),
            (text, INPUT.to_owned()),
            (half, INPUT.replace('}', ",\"half\":\"\u{fffd}\"}")),
        ] {
            let event = format!("{{\"tool_name\":\"mcp__bank__pay\",\"tool_input\":{input}}}");
            let mut sent = Sent::parse(&read_lenient_exact(event.as_bytes()).unwrap()).unwrap();
            let hosted = sent.call(Agent::ClaudeCode).unwrap();
            assert_eq!(hosted.arguments.to_string(), read);
            assert_eq!(hosted.call.arguments.as_str(), read);
        }
    }
}
