use counterfoil_model::{Format, Message, Role};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::fields::Fields;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Sessions of Strands Agents: one document per message, with a `message_id` and Bedrock Converse
/// blocks.
pub(crate) struct Strands;

impl Messages for Strands {
    fn format(&self) -> Format {
        Format::Strands
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[]."].into_iter().any(|at| {
            sketch.has(&format!("{at}message_id"))
                && sketch.is_one_of(&format!("{at}message.role"), &["user", "assistant"])
                && sketch.has(&format!("{at}message.content"))
        })
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let time = fields.take("created_at").and_then(time::millis);
        fields.pass_over(&["message_id", "updated_at"]);
        let original = fields.object("message");
        // A guardrail's replacement is what the model received and the user saw.
        let Some(mut message) = fields.object("redact_message").or(original) else {
            return session.skip("document without a message");
        };
        let mut role = match message.string("role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            other => {
                let role = other.unwrap_or("(none)");
                session.problem(line, format!("a message has the unknown role `{role}`"));
                return session.skip_part("message with role", role);
            }
        };
        let blocks =
            message.take("content").map(|raw: &RawValue| blocks::read_blocks(raw, line, session));
        let blocks = blocks.unwrap_or_default();
        if role == Role::User && !blocks.has_text && !blocks.outcomes.is_empty() {
            role = Role::Tool;
        }
        if !blocks.reasoning.is_empty() {
            session.skip("reasoning attached to a message");
        }
        message.pass_over(&["metadata"]);
        session.leave(&message);
        let text = Message { line, time, ..Message::text(role, blocks.text) };
        session.push(Message { calls: blocks.calls, outcomes: blocks.outcomes, ..text });
    }
}
