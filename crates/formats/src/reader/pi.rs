use std::borrow::Cow;

use counterfoil_model::{Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Sessions of Pi: entries by `type`. Entries of type `message` contain calls as `toolCall` in
/// their content, or results with the role `toolResult`.
pub(crate) struct Pi;

/// Entry types that only Pi writes.
const ENTRIES: [&str; 7] = [
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom_message",
    "session_info",
];

impl Messages for Pi {
    fn format(&self) -> Format {
        Format::Pi
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        let entry = |at: &str| {
            let has = |member: &str| sketch.has(&format!("{at}{member}"));
            has("id")
                && (has("parentId") && sketch.is_one_of(&format!("{at}type"), &ENTRIES)
                    || has("cwd") && sketch.is_one_of(&format!("{at}type"), &["session"]))
        };
        ["", "[]."].into_iter().any(entry)
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let kind = fields.string("type").unwrap_or(Cow::Borrowed("without type"));
        let time = fields.take("timestamp").and_then(time::millis);
        let id = fields.string("id");
        fields.pass_over(&["parentId", "version"]);
        let injected = MessageKind::Injected;
        let bare = |role, kind| Message { line, time, kind, ..Message::text(role, "") };
        match kind.as_ref() {
            "session" => {
                if let Some(id) = id.filter(|id| !id.is_empty()) {
                    session.transcript.id = id.into_owned();
                }
                session.transcript.directory = fields.string("cwd").map(Cow::into_owned);
            }
            "message" => match fields.object("message") {
                Some(mut message) => {
                    read_message(&mut message, bare(Role::User, MessageKind::Ordinary), session);
                    session.leave(&message);
                }
                None => session.problem(line, "the line has no `message` object"),
            },
            "model_change" => {
                if let Some(model) = fields.string("modelId") {
                    session.next_model(&model);
                }
                fields.pass_over(&["provider"]);
            }
            "compaction" | "branch_summary" => {
                session.gap(Gap::Compacted);
                let text = fields.string("summary").unwrap_or_default().into_owned();
                session.push(Message { text, ..bare(Role::System, MessageKind::Summary) });
                fields.pass_over(&["firstKeptEntryId", "tokensBefore", "fromId", "details"]);
            }
            "custom_message" => {
                let mut out = Parts::new(bare(Role::User, injected), session);
                read_content(fields.take("content"), &mut out);
                out.done();
                fields.pass_over(&["customType", "display", "details"]);
            }
            "thinking_level_change" | "custom" | "label" | "session_info" => {
                session.skip_named("line type", &kind);
                fields.pass_over(&["thinkingLevel", "customType", "data", "label", "name"]);
                fields.pass_over(&["targetId"]);
            }
            kind => session.skip_part("line type", kind),
        }
    }
}

/// Reads a message, a call or a result, by the role of the message.
fn read_message(message: &mut Fields<'_>, bare: Message, session: &mut Session) {
    message.pass_over(&["timestamp", "api", "provider", "usage", "stopReason", "responseId"]);
    let role = message.string("role").unwrap_or(Cow::Borrowed("(none)"));
    let template = match role.as_ref() {
        "user" => bare,
        "assistant" => {
            if let Some(model) = message.string("model") {
                session.next_model(&model);
            }
            Message { role: Role::Assistant, ..bare }
        }
        "toolResult" => return read_result(message, bare, session),
        "custom" => Message { kind: MessageKind::Injected, ..bare },
        "bashExecution" => {
            // Run by the user, not by the agent.
            let command = message.string("command").unwrap_or_default();
            let output = message.string("output").unwrap_or_default();
            let text = format!("{command}\n{output}");
            message.pass_over(&["exitCode", "cancelled", "truncated", "fullOutputPath"]);
            return session.push(Message { kind: MessageKind::Injected, text, ..bare });
        }
        "branchSummary" | "compactionSummary" => {
            session.gap(Gap::Compacted);
            let text = message.string("summary").unwrap_or_default().into_owned();
            let (role, kind) = (Role::System, MessageKind::Summary);
            return session.push(Message { role, kind, text, ..bare });
        }
        role => {
            session.problem(bare.line, format!("a message has the unknown role `{role}`"));
            return session.skip_part("message with role", role);
        }
    };
    let mut out = Parts::new(template, session);
    read_content(message.take("content"), &mut out);
    out.done();
}

fn read_content(raw: Option<&RawValue>, out: &mut Parts<'_>) {
    let Some(raw) = raw else { return };
    if let Some(text) = fields::string(raw) {
        return out.text(&text);
    }
    let line = out.line();
    for raw in fields::array(raw).unwrap_or_default() {
        let Some(mut block) = Fields::from_value(raw) else {
            out.session.problem(line, "a content block is not an object");
            continue;
        };
        let kind = block.string("type").unwrap_or(Cow::Borrowed("without type"));
        match kind.as_ref() {
            "text" => out.text(&block.string("text").unwrap_or_default()),
            "thinking" => out.reasoning(&block.string("thinking").unwrap_or_default()),
            "toolCall" => out.call(ToolCall {
                id: block.string("id").unwrap_or_default().into_owned(),
                tool: block.string("name").unwrap_or_default().into_owned(),
                arguments: fields::arguments(block.take("arguments")),
                line: 0,
            }),
            kind => {
                out.session.skip_part("content block", kind);
                continue;
            }
        }
        block.pass_over(&["textSignature", "thinkingSignature", "thoughtSignature", "redacted"]);
        out.session.leave(&block);
    }
}

fn read_result(message: &mut Fields<'_>, bare: Message, session: &mut Session) {
    let call_id = message.string("toolCallId").unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, line: bare.line, ..Outcome::default() };
    if let Some(raw) = message.take("content") {
        blocks::read_content(raw, &mut outcome, session);
    }
    // The tool's display data.
    message.pass_over(&["toolName", "details"]);
    ending::read_ending(message, &mut outcome, session);
    ending::read_rest(message, &mut outcome, session);
    session.push(Message { role: Role::Tool, outcomes: vec![outcome], ..bare });
}
