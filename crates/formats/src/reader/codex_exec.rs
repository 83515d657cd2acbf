use std::borrow::Cow;

use counterfoil_model::{Arguments, Format, Gap, Message, Outcome, Role, ToolCall};

use crate::blocks;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;

/// Output of `codex exec --json`: events of a thread, with items once they are complete. It does
/// not contain the prompt.
pub(crate) struct CodexExec;

const EVENTS: [&str; 5] =
    ["thread.started", "turn.started", "turn.completed", "item.started", "item.completed"];

impl Messages for CodexExec {
    fn format(&self) -> Format {
        Format::CodexExec
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.is_one_of("type", &EVENTS)
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let kind = fields.string("type").unwrap_or(Cow::Borrowed("without type"));
        match kind.as_ref() {
            "item.completed" => {
                if let Some(mut item) = fields.object("item") {
                    read_item(&mut item, line, session);
                    session.leave(&item);
                }
            }
            "thread.started" => {
                if let Some(id) = fields.string("thread_id") {
                    session.transcript.id = id.into_owned();
                }
                // The log contains neither the prompt nor earlier turns of a resumed thread.
                session.gap(Gap::CutStart);
            }
            // The completed item repeats all of this.
            "item.started" | "item.updated" => drop(fields.take("item")),
            kind => {
                fields.take("usage");
                session.skip_named("event", kind);
            }
        }
    }
}

fn read_item(item: &mut Fields<'_>, line: usize, session: &mut Session) {
    let id = item.string("id").unwrap_or_default().into_owned();
    let kind = item.string("type").unwrap_or(Cow::Borrowed("without type"));
    let status = item.string("status");
    let mut outcome = Outcome { call_id: id.clone(), line, ..Outcome::default() };
    ending::read_word(status.as_deref(), &mut outcome, session);
    let mut out = Parts::new(Message { line, ..Message::text(Role::Assistant, "") }, session);
    match kind.as_ref() {
        "agent_message" => out.text(&item.string("text").unwrap_or_default()),
        "reasoning" => out.reasoning(&item.string("text").unwrap_or_default()),
        "todo_list" | "error" => {
            item.pass_over(&["items", "message"]);
            out.session.skip_named("item", &kind);
        }
        kind => match read_call(kind, item, &mut outcome, out.session) {
            Some((tool, arguments)) => {
                out.call(ToolCall { id, tool, arguments, line });
                out.outcome(outcome);
            }
            None => {
                if kind.contains("agent") || kind.contains("collab") {
                    out.session.gap(Gap::UnrecordedSubagent);
                }
                out.session.skip_part("item", kind);
            }
        },
    }
    out.done();
}

/// The tool and arguments of an item that is a call; its result is added to the outcome.
fn read_call(
    kind: &str,
    item: &mut Fields<'_>,
    outcome: &mut Outcome,
    session: &mut Session,
) -> Option<(String, Arguments)> {
    let with =
        |name: &str, value: &str| Arguments::raw(serde_json::json!({ name: value }).to_string());
    Some(match kind {
        "command_execution" => {
            outcome.text = item.string("aggregated_output").unwrap_or_default().into_owned();
            ending::read_members(&["exit_code"], item, outcome, session);
            ("shell".to_owned(), with("command", &item.string("command").unwrap_or_default()))
        }
        "file_change" => {
            let changes = item.take("changes").map_or("[]", |raw| raw.get());
            ("apply_patch".to_owned(), Arguments::raw(format!("{{\"changes\":{changes}}}")))
        }
        "mcp_tool_call" => {
            let server = item.string("server").unwrap_or_default();
            let tool = item.string("tool").unwrap_or_default();
            if let Some(mut result) = item.object("result") {
                if let Some(raw) = result.take("content") {
                    blocks::read_content(raw, outcome, session);
                }
                ending::read_members(&["isError", "is_error"], &mut result, outcome, session);
            }
            ending::read_members(&["error"], item, outcome, session);
            (format!("mcp__{server}__{tool}"), fields::arguments(item.take_any("arguments")))
        }
        "web_search" => {
            item.take("action");
            ("web_search".to_owned(), with("query", &item.string("query").unwrap_or_default()))
        }
        _ => return None,
    })
}
