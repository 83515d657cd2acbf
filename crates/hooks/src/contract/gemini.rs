use counterfoil_model::{Agent, ExactValue, Format};
use serde_json::{Map, Value, json};

use super::{Contract, ReadEventError};
use crate::answer::{Answer, Decision};
use crate::event::{Event, Happening};
use crate::sent::{Sent, code_after, completed, failed};

/// The contract in the agent's documentation. Calls have no ids, so a receipt is written when the
/// tool has ended. There is no `ask`, and no context before a tool.
pub(super) struct Gemini;

/// The tool with which a sub-agent ends. Its argument is the sub-agent's report.
const LAST_WORD: &str = "complete_task";

impl Contract for Gemini {
    fn read(&self, sent: &ExactValue) -> Result<Event, ReadEventError> {
        let mut sent = Sent::parse(sent)?;
        let name = sent.needed("hook_event_name")?;
        let mut helpers = None;
        let happening = match name.as_str() {
            // There is no event for a sub-agent's stop: it ends with this call.
            "BeforeTool" if sent.is("tool_name", LAST_WORD) => {
                helpers = sent.helpers();
                let input = sent.value("tool_input");
                Happening::Stop { last: Some(report_in(&input)), again: false }
            }
            "BeforeTool" => Happening::Before(sent.call(Agent::Gemini)?),
            "AfterTool" => {
                let call = sent.call(Agent::Gemini)?;
                let response = sent.value("tool_response");
                let text = text_of(&response);
                let code = code_after(&text, &["Exit Code"]);
                let error = response.get("error").filter(|error| !error.is_null());
                let ended = match (error, code) {
                    (Some(error), _) => failed(&error.to_string(), code, false),
                    (None, Some(code)) if code != 0 => failed(&text, Some(code), false),
                    (None, code) => completed(response, code),
                };
                Happening::After(call, ended)
            }
            "BeforeAgent" => Happening::Prompt(sent.text("prompt").unwrap_or_default()),
            "AfterAgent" => Happening::Stop {
                last: sent.text("prompt_response"),
                again: sent.flag("stop_hook_active"),
            },
            "SessionEnd" => Happening::Ended,
            _ => Happening::Other,
        };
        let mut event = sent.event(name, happening)?;
        if let Some(folder) = helpers {
            event.transcript = Some(folder);
        }
        Ok(event)
    }

    fn before(&self) -> &'static str {
        "BeforeTool"
    }

    fn write(&self, event: &str, answer: &Answer) -> Option<Value> {
        let mut out = Map::new();
        match &answer.decision {
            Some(Decision::Deny(reason) | Decision::GoOn(reason)) => {
                out.insert("decision".to_owned(), json!("deny"));
                out.insert("reason".to_owned(), json!(reason));
            }
            Some(Decision::Ask(reason)) => {
                out.insert("decision".to_owned(), json!("deny"));
                out.insert(
                    "reason".to_owned(),
                    json!(format!(
                        "{reason}; the call needs the user's approval, which this agent cannot \
                         ask for here"
                    )),
                );
            }
            None => {}
        }
        let mut notice = answer.notice.clone();
        match &answer.context {
            Some(context) if matches!(event, "AfterTool" | "BeforeAgent") => {
                out.insert(
                    "hookSpecificOutput".to_owned(),
                    json!({ "hookEventName": event, "additionalContext": context }),
                );
            }
            Some(context) => {
                notice = Some(
                    notice.map_or_else(|| context.clone(), |notice| format!("{notice}\n{context}")),
                );
            }
            None => {}
        }
        if let Some(notice) = notice {
            out.insert("systemMessage".to_owned(), json!(notice));
        }
        (!out.is_empty()).then_some(Value::Object(out))
    }

    fn transcripts(&self) -> (Format, bool) {
        (Format::GeminiCli, false)
    }
}

/// The report of a sub-agent: a text, or an object with texts.
fn report_in(input: &Value) -> String {
    let report = input.get("result").unwrap_or(input);
    let text = report.get("response").unwrap_or(report);
    text.as_str().map_or_else(|| text.to_string(), str::to_owned)
}

fn text_of(response: &Value) -> String {
    match response.get("llmContent") {
        Some(Value::String(text)) => text.clone(),
        Some(content) => content.to_string(),
        None => response.to_string(),
    }
}
