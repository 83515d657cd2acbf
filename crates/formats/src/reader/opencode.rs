use std::borrow::Cow;

use counterfoil_model::{Format, Gap, Message, MessageKind, Outcome, Role, ToolCall, exit_code_of};
use serde_json::value::RawValue;

use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::outcome_text;
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Locator;
use crate::time;

/// Sessions exported by OpenCode: `info` and `messages`, each with `info` and `parts`.
pub(crate) struct Opencode;

impl Messages for Opencode {
    fn format(&self) -> Format {
        Format::Opencode
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has_all(&["messages[].info.role", "messages[].parts"])
            || sketch.has_all(&["[].info.role", "[].parts"])
    }

    fn read_head(&self, fields: &mut Fields<'_>, _place: &mut Locator<'_>, session: &mut Session) {
        let Some(mut info) = fields.object("info") else { return };
        if let Some(id) = info.string("id") {
            session.transcript.id = id.into_owned();
        }
        session.transcript.directory = info.string("directory").map(Cow::into_owned);
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let Some(mut info) = fields.object("info") else {
            return session.problem(line, "a message has no `info`");
        };
        let user = info.string("role").as_deref() == Some("user");
        let role = if user { Role::User } else { Role::Assistant };
        let time = info.object("time").and_then(|mut t| t.take("created")).and_then(time::millis);
        let summary = info.boolean("summary") == Some(true);
        let kind = if summary { MessageKind::Summary } else { MessageKind::Ordinary };
        if summary {
            session.gap(Gap::Compacted);
        }
        if let Some(model) = info.string("modelID") {
            session.next_model(&model);
        }
        let bare = Message { line, time, kind, ..Message::text(role, "") };
        let mut out = Parts::new(bare, session);
        for raw in fields.array("parts").unwrap_or_default() {
            read_part(raw, &mut out);
        }
        out.done();
    }
}

fn read_part(raw: &RawValue, out: &mut Parts<'_>) {
    let line = out.line();
    let Some(mut part) = Fields::from_value(raw) else {
        return out.session.problem(line, "a part of a message is not an object");
    };
    let kind = part.string("type").unwrap_or(Cow::Borrowed("without type"));
    match kind.as_ref() {
        "text" if part.boolean("synthetic") == Some(true) => {
            out.session.skip("text inserted by the agent's harness");
        }
        "text" => out.text(&part.string("text").unwrap_or_default()),
        "reasoning" => out.reasoning(&part.string("text").unwrap_or_default()),
        "tool" => {
            let id = part.string("callID").unwrap_or_default().into_owned();
            let tool = part.string("tool").unwrap_or_default().into_owned();
            match part.object("state") {
                Some(state) => read_call(id, tool, state, out),
                None => out.session.skip_part("message part", "tool without state"),
            }
        }
        // A sub-agent, whose calls are in a session of their own.
        "subtask" => out.session.gap(Gap::UnrecordedSubagent),
        "step-start" | "step-finish" | "snapshot" | "patch" | "file" | "agent" | "retry"
        | "compaction" => out.session.skip_named("message part", &kind),
        kind => out.session.skip_part("message part", kind),
    }
}

fn read_call(id: String, tool: String, mut state: Fields<'_>, out: &mut Parts<'_>) {
    let arguments = fields::arguments(state.take_any("input"));
    if tool == "task" {
        out.session.gap(Gap::UnrecordedSubagent);
    }
    out.call(ToolCall { id: id.clone(), tool, arguments, line: 0 });
    let status = state.string("status").unwrap_or_default();
    let fault = state.string("error");
    let output = state.string("output");
    let metadata = state.object("metadata");
    let text = if status == "error" { fault } else { output }.unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id: id, text, ..Outcome::default() };
    if let Some(raw) = metadata.and_then(|mut metadata| metadata.take("exit")) {
        outcome.exit_code = exit_code_of(raw.get());
        if outcome.exit_code.is_none() {
            ending::unread(&mut outcome, "exit", out.session);
        }
    }
    match status.as_ref() {
        "completed" => outcome.is_error = Some(false),
        "error" if outcome_text::says_refused(&outcome.text) => outcome.refused = true,
        "error" => outcome.is_error = Some(true),
        // There is no result.
        _ => return,
    }
    out.outcome(outcome);
}
