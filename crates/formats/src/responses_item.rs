use std::borrow::Cow;

use counterfoil_model::{Arguments, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::fields::{self, Fields};
use crate::outcome_text;
use crate::session::Session;

/// Reads one item of the OpenAI Responses kind into a message, and adds it. `false` when its type
/// is none of a conversation.
pub(crate) fn read_item(
    kind: &str,
    fields: &mut Fields<'_>,
    line: usize,
    time: Option<i64>,
    session: &mut Session,
) -> bool {
    let mut message = Message { line, time, ..Message::text(Role::Assistant, "") };
    match kind {
        "message" | "agent_message" | "reasoning" => said(kind, fields, &mut message, session),
        "function_call" | "custom_tool_call" => {
            let name = fields.string("name").unwrap_or_default().into_owned();
            let raw = fields.take("arguments").or_else(|| fields.take("input"));
            let arguments = match raw.and_then(fields::string) {
                // What a custom tool gets is free text, not JSON.
                Some(text) if kind == "custom_tool_call" => free_text(&text),
                _ => blocks::arguments(raw),
            };
            message.calls.push(ToolCall { id: call_id(fields), tool: name, arguments, line });
        }
        "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call" => {
            let raw = fields.take("action").or_else(|| fields.take("operation"));
            let tool = kind.trim_end_matches("_call").to_owned();
            let arguments = blocks::arguments(raw);
            message.calls.push(ToolCall { id: call_id(fields), tool, arguments, line });
        }
        "mcp_call"
        | "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "tool_search_call" => {
            vendor_call(kind, fields, &mut message, session);
        }
        kind if kind.ends_with("_call_output") => {
            message.role = Role::Tool;
            let mut outcome = Outcome { call_id: call_id(fields), line, ..Outcome::default() };
            if let Some(raw) = fields.take("output") {
                read_output(raw, &mut outcome, session);
            }
            if let Some(status) = fields.string("status") {
                outcome.is_error = outcome.is_error.or((status == "failed").then_some(true));
            }
            message.outcomes.push(outcome);
        }
        _ => return false,
    }
    fields.take("id");
    session.leave(fields);
    session.push(message);
    true
}

/// What the user, the agent or another agent said, or the agent thought.
fn said(kind: &str, fields: &mut Fields<'_>, message: &mut Message, session: &mut Session) {
    let mut read = |name| Some(blocks::read_blocks(fields.take(name)?, message.line, session));
    match kind {
        "reasoning" => {
            message.kind = MessageKind::Reasoning;
            for part in ["summary", "content"].into_iter().filter_map(read) {
                blocks::join(&mut message.text, &part.text);
                blocks::join(&mut message.text, &part.reasoning);
            }
        }
        // What another agent sent to this one: its task, or a report.
        "agent_message" => {
            message.role = Role::User;
            message.text = read("content").unwrap_or_default().text;
            if !message.text.starts_with("Message Type: NEW_TASK") {
                message.kind = MessageKind::Injected;
            }
            fields.take("author");
            fields.take("recipient");
        }
        _ => {
            message.text = read("content").unwrap_or_default().text;
            message.role = match fields.string("role").as_deref() {
                Some("system" | "developer") => Role::System,
                Some("assistant") => Role::Assistant,
                Some("tool") => Role::Tool,
                _ => Role::User,
            };
        }
    }
}

/// A call that the vendor runs itself: the item holds the call and how it ended.
fn vendor_call(kind: &str, fields: &mut Fields<'_>, message: &mut Message, session: &mut Session) {
    let line = message.line;
    let tool = fields
        .string("name")
        .map_or_else(|| kind.trim_end_matches("_call").to_owned(), Cow::into_owned);
    let raw = ["arguments", "action", "queries", "code"].iter().find_map(|n| fields.take(n));
    let arguments = match raw {
        Some(raw) if !raw.get().starts_with(['{', '"']) => {
            Arguments::raw(format!("{{\"input\":{}}}", raw.get()))
        }
        Some(raw) if kind == "code_interpreter_call" => {
            free_text(&fields::string(raw).unwrap_or_default())
        }
        raw => blocks::arguments(raw),
    };
    let mut id = call_id(fields);
    if id.is_empty() {
        id = format!("item-{}", session.len());
    }
    message.calls.push(ToolCall { id: id.clone(), tool, arguments, line });
    let mut outcome = Outcome { call_id: id, line, ..Outcome::default() };
    let output = ["output", "results", "outputs", "result"].iter().find_map(|n| fields.take(n));
    if let Some(raw) = output {
        outcome.text = blocks::result_text(raw, session);
    }
    if let Some(raw) = fields.take("error") {
        outcome.is_error = Some(true);
        blocks::join(&mut outcome.text, &blocks::result_text(raw, session));
    }
    match fields.string("status").as_deref() {
        Some("completed") => outcome.is_error = outcome.is_error.or(Some(false)),
        Some("failed" | "incomplete") => outcome.is_error = Some(true),
        Some("in_progress" | "searching" | "interpreting") => outcome.running = true,
        _ => {}
    }
    message.outcomes.push(outcome);
}

fn call_id(fields: &mut Fields<'_>) -> String {
    let id = fields.string("call_id").or_else(|| fields.string("id"));
    id.unwrap_or_default().into_owned()
}

fn free_text(text: &str) -> Arguments {
    Arguments::raw(serde_json::json!({ "input": text }).to_string())
}

/// Reads the output of a call: text, blocks, `{content, success}`, or text that is itself JSON
/// with `output` and `metadata`.
pub(crate) fn read_output(raw: &RawValue, outcome: &mut Outcome, session: &mut Session) {
    if let Some(mut fields) = Fields::of(raw) {
        outcome.is_error = fields.boolean("success").map(|success| !success);
        if let Some(inner) = fields.take("content").or_else(|| fields.take("output")) {
            outcome.text = blocks::result_text(inner, session);
            read_metadata(&mut fields, outcome);
        } else {
            raw.get().clone_into(&mut outcome.text);
        }
    } else {
        outcome.text = blocks::result_text(raw, session);
        if outcome.text.starts_with("{\"output\"") {
            read_wrapped(outcome);
        }
    }
    outcome.exit_code = outcome
        .exit_code
        .or_else(|| outcome_text::number_in_head(&outcome.text, "Process exited with code "))
        .or_else(|| outcome_text::number_in_head(&outcome.text, "Exit code: "));
    outcome.running |= outcome.exit_code.is_none()
        && outcome_text::number_in_head(&outcome.text, "Process running with session ID ")
            .is_some();
}

/// `{"output": "…", "metadata": {"exit_code": 1}}` as text.
fn read_wrapped(outcome: &mut Outcome) {
    let text = std::mem::take(&mut outcome.text);
    let inner = Fields::parse(&text).ok().and_then(|mut fields| {
        let inner = fields.string("output")?.into_owned();
        read_metadata(&mut fields, outcome);
        Some(inner)
    });
    outcome.text = inner.unwrap_or(text);
}

fn read_metadata(fields: &mut Fields<'_>, outcome: &mut Outcome) {
    if let Some(mut metadata) = fields.object("metadata") {
        outcome.exit_code = metadata.number("exit_code");
    }
}
