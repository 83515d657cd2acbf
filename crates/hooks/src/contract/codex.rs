use counterfoil_model::{Agent, ExactValue, Format};
use serde_json::{Map, Value, json};

use super::{Contract, ReadEventError};
use crate::answer::{Answer, Decision};
use crate::event::{Event, Happening};
use crate::sent::{Sent, code_after, completed, failed};

/// The contract in the schemas that the agent publishes. It does not accept `ask`: a call that
/// needs a person's agreement is denied, with the reason.
pub(super) struct Codex;

impl Contract for Codex {
    fn read(&self, sent: &ExactValue) -> Result<Event, ReadEventError> {
        let mut sent = Sent::parse(sent)?;
        let name = sent.needed("hook_event_name")?;
        let happening = match name.as_str() {
            "PreToolUse" => Happening::Before(sent.call(Agent::Codex)?),
            "PostToolUse" => {
                let call = sent.call(Agent::Codex)?;
                let response = sent.value("tool_response");
                let ended = match exit_code(&response) {
                    Some(code) if code != 0 => failed(&text_of(&response), Some(code), false),
                    code => completed(response, code),
                };
                Happening::After(call, ended)
            }
            "UserPromptSubmit" => Happening::Prompt(sent.text("prompt").unwrap_or_default()),
            "Stop" | "SubagentStop" => Happening::Stop {
                last: sent.text("last_assistant_message"),
                again: sent.flag("stop_hook_active"),
            },
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
                specific.insert("permissionDecision".to_owned(), json!("deny"));
                specific.insert(
                    "permissionDecisionReason".to_owned(),
                    json!(format!(
                        "{reason}; the call needs the user's approval, which this agent cannot \
                         ask for here"
                    )),
                );
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
        (Format::Codex, true)
    }
}

fn exit_code(response: &Value) -> Option<i32> {
    let stated = response.pointer("/metadata/exit_code").or_else(|| response.get("exit_code"));
    match stated.and_then(Value::as_i64) {
        Some(code) => i32::try_from(code).ok(),
        None => code_after(&text_of(response), &["exited with code", "Exit code"]),
    }
}

fn text_of(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        value => value
            .get("output")
            .and_then(Value::as_str)
            .map_or_else(|| value.to_string(), str::to_owned),
    }
}
