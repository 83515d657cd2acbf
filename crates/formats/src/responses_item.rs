use std::borrow::Cow;

use counterfoil_model::{Arguments, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::ending;
use crate::fields::{self, Fields};
use crate::outcome_text;
use crate::session::Session;

/// Reads one OpenAI Responses item into a message and adds it. Returns `false` if its type is not
/// part of a conversation.
pub(crate) fn read_item(
    kind: &str,
    fields: &mut Fields<'_>,
    line: usize,
    time: Option<i64>,
    session: &mut Session,
) -> bool {
    let mut message = Message { line, time, ..Message::text(Role::Assistant, "") };
    match kind {
        "message" | "agent_message" | "reasoning" => read_text(kind, fields, &mut message, session),
        "function_call" | "custom_tool_call" => {
            let name = fields.string("name").unwrap_or_default().into_owned();
            let raw = fields.take("arguments").or_else(|| fields.take("input"));
            let arguments = match raw.and_then(fields::string) {
                // The input of a custom tool is free text, not JSON.
                Some(text) if kind == "custom_tool_call" => free_text(&text),
                _ => fields::arguments(raw),
            };
            message.calls.push(ToolCall { id: call_id(fields), tool: name, arguments, line });
        }
        "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call" => {
            let tool = kind.trim_end_matches("_call").to_owned();
            session.hosts(&tool);
            let arguments = acting(fields);
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
            match fields.string("status").as_deref() {
                // The item is complete; this says nothing about the result of the call.
                Some("completed") | None => {}
                word => ending::read_word(word, &mut outcome, session),
            }
            ending::read_ending(fields, &mut outcome, session);
            ending::read_rest(fields, &mut outcome, session);
            message.outcomes.push(outcome);
        }
        _ => return false,
    }
    fields.take("id");
    session.leave(fields);
    session.push(message);
    true
}

/// Reads a text or a thought of the user, the agent or another agent.
fn read_text(kind: &str, fields: &mut Fields<'_>, message: &mut Message, session: &mut Session) {
    let mut read = |name| Some(blocks::read_blocks(fields.take(name)?, message.line, session));
    match kind {
        "reasoning" => {
            message.kind = MessageKind::Reasoning;
            for part in ["summary", "content"].into_iter().filter_map(read) {
                content::join(&mut message.text, &part.text);
                content::join(&mut message.text, &part.reasoning);
            }
        }
        // A message from another agent: its task, or a report.
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

/// Reads a call that the vendor runs itself: the item holds the call and how it ended.
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
        raw => fields::arguments(raw),
    };
    let mut id = call_id(fields);
    if id.is_empty() {
        id = format!("item-{}", session.len());
    }
    session.hosts(&tool);
    message.calls.push(ToolCall { id: id.clone(), tool, arguments, line });
    let mut outcome = Outcome { call_id: id, line, ..Outcome::default() };
    let output = ["output", "results", "outputs", "result"].iter().find_map(|n| fields.take(n));
    if let Some(raw) = output {
        blocks::read_content(raw, &mut outcome, session);
    }
    if let Some(raw) = fields.take("error") {
        outcome.is_error = Some(true);
        content::join(&mut outcome.text, &content::result_text(raw, session));
    }
    match fields.string("status").as_deref() {
        Some("searching" | "interpreting" | "generating") => outcome.running = true,
        word => ending::read_word(word, &mut outcome, session),
    }
    message.outcomes.push(outcome);
}

/// The members of a native call that say what it does.
const ACTING: [&str; 3] = ["action", "operation", "actions"];

/// The arguments of a native call: its only action, or all that it does.
fn acting(fields: &mut Fields<'_>) -> Arguments {
    let given: Vec<(&str, &RawValue)> =
        ACTING.iter().filter_map(|name| Some((*name, fields.take(name)?))).collect();
    match given.as_slice() {
        [] => fields::arguments(None),
        [("action" | "operation", raw)] => fields::arguments(Some(raw)),
        all => {
            let members = all.iter().map(|(name, raw)| format!("\"{name}\":{}", raw.get()));
            Arguments::raw(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
        }
    }
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
    if let Some(mut fields) = Fields::from_value(raw) {
        if let Some(inner) = fields.take("content").or_else(|| fields.take("output")) {
            blocks::read_content(inner, outcome, session);
            read_metadata(&mut fields, outcome, session);
        } else {
            raw.get().clone_into(&mut outcome.text);
        }
        ending::read_members(&["success"], &mut fields, outcome, session);
    } else if !read_streams(raw, outcome, session) {
        blocks::read_content(raw, outcome, session);
        if outcome.text.starts_with("{\"output\"") {
            read_wrapped(outcome, session);
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

/// Unwraps `{"output": "…", "metadata": {"exit_code": 1}}` in the text.
fn read_wrapped(outcome: &mut Outcome, session: &mut Session) {
    let text = std::mem::take(&mut outcome.text);
    let inner = Fields::parse(&text).ok().and_then(|mut fields| {
        let inner = fields.string("output")?.into_owned();
        read_metadata(&mut fields, outcome, session);
        Some(inner)
    });
    outcome.text = inner.unwrap_or(text);
}

fn read_metadata(fields: &mut Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    if let Some(mut metadata) = fields.object("metadata") {
        ending::read_members(&["exit_code"], &mut metadata, outcome, session);
    }
}

/// Reads a shell tool's result: a list of `{stdout, stderr, outcome: {type, exit_code}}`. Returns
/// `false` for anything else.
fn read_streams(raw: &RawValue, outcome: &mut Outcome, session: &mut Session) -> bool {
    let list: Option<Vec<Fields<'_>>> =
        fields::array(raw).and_then(|list| list.into_iter().map(Fields::from_value).collect());
    let shell = |run: &Fields<'_>| run.has("stdout") && run.has("outcome");
    let Some(runs) = list.filter(|list| !list.is_empty() && list.iter().all(shell)) else {
        return false;
    };
    for mut run in runs {
        for stream in ["stdout", "stderr"].into_iter().filter_map(|name| run.string(name)) {
            content::join(&mut outcome.text, &stream);
        }
        let failed = outcome.exit_code.filter(|code| *code != 0);
        let Some(mut end) = run.object("outcome") else {
            ending::unread(outcome, "outcome", session);
            continue;
        };
        match end.string("type").as_deref() {
            Some("exit") => ending::read_members(&["exit_code"], &mut end, outcome, session),
            word => ending::read_word(word.or(Some("(none)")), outcome, session),
        }
        outcome.exit_code = failed.or(outcome.exit_code);
    }
    true
}

#[cfg(test)]
mod tests {
    use counterfoil_model::Format;

    use super::*;

    #[test]
    fn a_native_call_is_all_that_it_does() {
        for (members, expected) in [
            (r#""action":{"type":"wait"}"#, r#"{"type":"wait"}"#),
            (r#""operation":{"path":"a"}"#, r#"{"path":"a"}"#),
            (r#""actions":[{"type":"wait"}]"#, r#"{"actions":[{"type":"wait"}]}"#),
            (r#""actions":[1],"action":{"a":2}"#, r#"{"action":{"a":2},"actions":[1]}"#),
            (r#""status":"completed""#, "{}"),
        ] {
            let text = format!(r#"{{"call_id":"c",{members}}}"#);
            let mut session = Session::new("s".to_owned(), Format::OpenaiResponses);
            let mut fields = Fields::parse(&text).unwrap();
            assert!(read_item("computer_call", &mut fields, 1, None, &mut session));
            let transcript = session.finish().transcript;
            let call = &transcript.messages[0].calls[0];
            assert_eq!(call.arguments.as_str(), expected, "{text}");
        }
    }
}
