use std::borrow::Cow;

use counterfoil_model::{Format, Message, MessageKind, Outcome, Role, ToolCall};

use crate::blocks;
use crate::content;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Messages and events of AutoGen's AgentChat, alone or as the `messages` of a task's result.
pub(crate) struct Autogen;

const KINDS: [&str; 8] = [
    "TextMessage",
    "MultiModalMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
    "ThoughtEvent",
    "StopMessage",
    "HandoffMessage",
];

impl Messages for Autogen {
    fn format(&self) -> Format {
        Format::Autogen
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[]."].into_iter().any(|at| {
            sketch.has(&format!("{at}source")) && sketch.is_one_of(&format!("{at}type"), &KINDS)
        })
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let kind = fields.string("type").unwrap_or(Cow::Borrowed("without type"));
        let of_user = fields.string("source").is_some_and(|source| is_person(&source));
        let role = if of_user { Role::User } else { Role::Assistant };
        let time = fields.take("created_at").and_then(time::millis);
        fields.pass_over(&["id", "models_usage", "metadata"]);
        let bare = Message { line, time, ..Message::text(role, "") };
        match kind.as_ref() {
            "ToolCallRequestEvent" | "ToolCallExecutionEvent" => {
                let mut out = Parts::new(bare, session);
                for raw in fields.array("content").unwrap_or_default() {
                    match Fields::from_value(raw) {
                        Some(mut item) if kind == "ToolCallRequestEvent" => {
                            out.call(call(&mut item));
                        }
                        Some(mut item) => {
                            let outcome = outcome(&mut item, out.session);
                            out.outcome(outcome);
                        }
                        None => out.session.problem(line, "a tool call is not an object"),
                    }
                }
                return out.done();
            }
            "TextMessage"
            | "MultiModalMessage"
            | "StopMessage"
            | "HandoffMessage"
            | "ThoughtEvent"
            | "ToolCallSummaryMessage" => {}
            "UserInputRequestedEvent" | "ModelClientStreamingChunkEvent" => {
                fields.take("content");
                return session.skip_named("message type", &kind);
            }
            kind => {
                fields.take("content");
                return session.skip_part("message type", kind);
            }
        }
        let mut text = String::new();
        if let Some(raw) = fields.take("content") {
            for part in fields::array(raw).unwrap_or_else(|| vec![raw]) {
                content::join(&mut text, &fields::string(part).unwrap_or_default());
            }
        }
        let message_kind = match kind.as_ref() {
            "ThoughtEvent" => MessageKind::Reasoning,
            // This repeats results, and was not written by a model.
            "ToolCallSummaryMessage" => MessageKind::Injected,
            _ => MessageKind::Ordinary,
        };
        if message_kind == MessageKind::Injected {
            fields.pass_over(&["tool_calls", "results"]);
        }
        session.push(Message { kind: message_kind, text, ..bare });
    }
}

/// Whether the source is a person. A `UserProxyAgent` may have any name: `user`, `user_proxy`,
/// `human`.
fn is_person(source: &str) -> bool {
    let source = source.to_ascii_lowercase();
    source.starts_with("user") || source.contains("human")
}

fn call(fields: &mut Fields<'_>) -> ToolCall {
    ToolCall {
        id: fields.string("id").unwrap_or_default().into_owned(),
        tool: fields.string("name").unwrap_or_default().into_owned(),
        arguments: fields::arguments(fields.take_any("arguments")),
        line: 0,
    }
}

fn outcome(fields: &mut Fields<'_>, session: &mut Session) -> Outcome {
    let call_id = fields.string("call_id").unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, ..Outcome::default() };
    if let Some(raw) = fields.take("content") {
        blocks::read_content(raw, &mut outcome, session);
    }
    ending::read_ending(fields, &mut outcome, session);
    ending::read_rest(fields, &mut outcome, session);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_by_the_names_that_teams_give_them() {
        for (source, expected) in
            [("user", true), ("user_proxy", true), ("HumanAgent", true), ("coder", false)]
        {
            assert_eq!(is_person(source), expected, "{source}");
        }
    }
}
