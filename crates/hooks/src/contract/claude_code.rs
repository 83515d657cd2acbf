use counterfoil_guard::{HostEnded, HostedCall};
use counterfoil_model::{Agent, ExactValue, Format, Status};
use serde_json::{Map, Value, json};

use super::{Contract, ReadEventError};
use crate::answer::{Answer, Decision};
use crate::event::{Event, Happening};
use crate::sent::{Sent, code_after, completed, failed};

/// The contract in the types that the agent publishes.
pub(super) struct ClaudeCode;

impl Contract for ClaudeCode {
    fn read(&self, sent: &ExactValue) -> Result<Event, ReadEventError> {
        let mut sent = Sent::parse(sent)?;
        let name = sent.needed("hook_event_name")?;
        let happening = match name.as_str() {
            "PreToolUse" => Happening::Before(sent.call(Agent::ClaudeCode)?),
            "PostToolUse" => {
                let call = sent.call(Agent::ClaudeCode)?;
                let ended = ended(&call, sent.value("tool_response"));
                Happening::After(call, ended)
            }
            "PostToolUseFailure" => {
                let call = sent.call(Agent::ClaudeCode)?;
                let error = sent.text("error").unwrap_or_default();
                let exit_code = code_after(&error, &["Exit code"]);
                Happening::After(call, failed(&error, exit_code, sent.flag("is_interrupt")))
            }
            "UserPromptSubmit" => Happening::Prompt(sent.text("prompt").unwrap_or_default()),
            "Stop" | "SubagentStop" => Happening::Stop {
                last: sent.text("last_assistant_message"),
                again: sent.flag("stop_hook_active"),
            },
            "SessionStart" => Happening::Started,
            "SessionEnd" => Happening::Ended,
            _ => Happening::Other,
        };
        sent.event(name, happening)
    }

    fn before(&self) -> &'static str {
        "PreToolUse"
    }

    fn write(&self, event: &str, answer: &Answer) -> Option<Value> {
        let mut out = Map::new();
        let mut specific = Map::new();
        match &answer.decision {
            Some(Decision::Deny(reason)) => {
                specific.insert("permissionDecision".to_owned(), json!("deny"));
                specific.insert("permissionDecisionReason".to_owned(), json!(reason));
            }
            Some(Decision::Ask(reason)) => {
                specific.insert("permissionDecision".to_owned(), json!("ask"));
                specific.insert("permissionDecisionReason".to_owned(), json!(reason));
            }
            Some(Decision::GoOn(reason)) => {
                out.insert("decision".to_owned(), json!("block"));
                out.insert("reason".to_owned(), json!(reason));
            }
            None => {}
        }
        if let Some(context) = &answer.context {
            specific.insert("additionalContext".to_owned(), json!(context));
        }
        if let Some(notice) = &answer.notice {
            out.insert("systemMessage".to_owned(), json!(notice));
        }
        if !specific.is_empty() && !event.is_empty() {
            specific.insert("hookEventName".to_owned(), json!(event));
            out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
        }
        (!out.is_empty()).then_some(Value::Object(out))
    }

    fn transcripts(&self) -> (Format, bool) {
        (Format::ClaudeCode, true)
    }
}

/// The end of a tool call. A shell command exited with 0, unless the response says otherwise.
fn ended(call: &HostedCall, response: Value) -> HostEnded {
    if call.tool.name != "Bash" {
        return completed(response, None);
    }
    let flag = |name: &str| response.get(name) == Some(&Value::Bool(true));
    let has = |name: &str| response.get(name).is_some_and(|value| !value.is_null());
    if has("backgroundTaskId") {
        return HostEnded { status: Status::Open, ..completed(response, None) };
    }
    if flag("interrupted") {
        let text = response.get("stdout").and_then(Value::as_str).unwrap_or_default().to_owned();
        let timed_out = has("timedOutAfterMs");
        let message = if timed_out { format!("timed out\n{text}") } else { text };
        return HostEnded { result: response, ..failed(&message, None, !timed_out) };
    }
    // If the agent explains a code instead of failing on it (`grep` without a match), it is not 0.
    let exit_code = (!has("returnCodeInterpretation")).then_some(0);
    completed(response, exit_code)
}
