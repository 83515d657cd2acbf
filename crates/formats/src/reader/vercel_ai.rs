use std::borrow::Cow;

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Messages of the Vercel AI SDK: UI messages (`parts`, or `toolInvocations` in version 4) and
/// model messages (`tool-call` and `tool-result` in `content`). Mastra stores UI messages with
/// `parts` in an object as their `content`.
pub(crate) struct VercelAi;

const PARTS: [&str; 5] = ["text", "step-start", "reasoning", "tool-invocation", "dynamic-tool"];

impl Messages for VercelAi {
    fn format(&self) -> Format {
        Format::VercelAi
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[].", "[].messages[]."].into_iter().any(|at| {
            let place = |member: &str| format!("{at}{member}");
            sketch.has(&place("role"))
                && (sketch.is_one_of(&place("parts[].type"), &PARTS)
                    || sketch.has(&place("content.format"))
                        && sketch.is_one_of(&place("content.parts[].type"), &PARTS)
                    || sketch.has(&place("toolInvocations[].toolCallId"))
                    || sketch.is_one_of(&place("content[].type"), &["tool-call", "tool-result"]))
        })
    }

    /// The thread id in Mastra's rows.
    fn names_session(&self) -> Option<&'static str> {
        Some("threadId")
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let role = match fields.string("role").as_deref() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("tool") => Role::Tool,
            Some("assistant") => Role::Assistant,
            // Data added by the page's program; it is not a message of either side.
            Some("data") => return session.skip_part("message with role", "data"),
            other => {
                let role = other.unwrap_or("(none)");
                session.problem(line, format!("a message has the unknown role `{role}`"));
                return session.skip_part("message with role", role);
            }
        };
        let time = fields.take("createdAt").and_then(time::millis);
        fields.pass_over(&["id", "status", "annotations", "revisionId"]);
        let parts = fields.array("parts").filter(|parts| !parts.is_empty());
        let content = fields.take("content");
        let invocations = fields.array("toolInvocations").unwrap_or_default();
        let mut out = Parts::new(Message { line, time, ..Message::text(role, "") }, session);
        if let Some(mut stored) = content.and_then(Fields::from_value).filter(|_| parts.is_none()) {
            if let Some(id) = fields.string("threadId") {
                out.session.transcript.id = id.into_owned();
            }
            fields.pass_over(&["resourceId", "type"]);
            read_stored(&mut stored, &mut out);
            return out.done();
        }
        if let Some(parts) = parts {
            // Version 4 repeats the parts in content and invocations.
            parts.into_iter().for_each(|part| read_part(part, &mut out));
            return out.done();
        }
        for raw in invocations {
            match Fields::from_value(raw) {
                Some(mut invocation) => whole_call(None, &mut invocation, &mut out),
                None => out.session.problem(line, "a tool invocation is not an object"),
            }
        }
        match content.map(|raw| (raw, fields::array(raw))) {
            Some((_, Some(parts))) => parts.into_iter().for_each(|part| read_part(part, &mut out)),
            Some((raw, None)) => out.text(&fields::string(raw).unwrap_or_default()),
            None => {}
        }
        out.done();
    }
}

/// Reads the content of a message stored by Mastra. Its text and invocations repeat the parts.
fn read_stored(stored: &mut Fields<'_>, out: &mut Parts<'_>) {
    let parts = stored.array("parts").unwrap_or_default();
    let invocations = stored.array("toolInvocations").unwrap_or_default();
    let text = stored.string("content").unwrap_or_default();
    if parts.is_empty() {
        for mut invocation in invocations.into_iter().filter_map(Fields::from_value) {
            whole_call(None, &mut invocation, out);
        }
        out.text(&text);
    }
    for part in parts {
        read_part(part, out);
    }
    stored.pass_over(&["format", "metadata", "reasoning", "annotations", "providerMetadata"]);
    out.session.leave(stored);
}

fn read_part(raw: &RawValue, out: &mut Parts<'_>) {
    let Some(mut part) = Fields::from_value(raw) else {
        let line = out.line();
        return out.session.problem(line, "a part of a message is not an object");
    };
    let kind = part.string("type").unwrap_or(Cow::Borrowed("without type"));
    if kind == "text" || kind == "reasoning" {
        part.pass_over(&["state", "providerOptions", "providerMetadata", "details"]);
    }
    match kind.as_ref() {
        "text" => out.text(&part.string("text").unwrap_or_default()),
        "reasoning" => {
            let text = part.string("text").or_else(|| part.string("reasoning"));
            out.reasoning(&text.unwrap_or_default());
        }
        "step-start" => {}
        "tool-call" => {
            let call = call(&mut part);
            out.call(call);
        }
        "tool-result" | "tool-error" => result(&mut part, kind == "tool-error", out),
        "tool-invocation" => {
            if let Some(mut invocation) = part.object("toolInvocation") {
                whole_call(None, &mut invocation, out);
            }
        }
        "tool-approval-request" | "tool-approval-response" => {
            return out.session.skip_named("message part", &kind);
        }
        "dynamic-tool" => whole_call(None, &mut part, out),
        kind if kind.starts_with("tool-") => {
            whole_call(kind.strip_prefix("tool-"), &mut part, out);
        }
        kind if kind.starts_with("data-") || kind.starts_with("source") => {
            return out.session.skip_named("message part", kind);
        }
        kind => return out.session.skip_part("message part", kind),
    }
    out.session.leave(&part);
}

fn call(fields: &mut Fields<'_>) -> ToolCall {
    let input = fields.take_any("input").or_else(|| fields.take_any("args"));
    fields.pass_over(&["providerExecuted", "providerOptions", "callProviderMetadata", "dynamic"]);
    ToolCall {
        id: fields.string("toolCallId").unwrap_or_default().into_owned(),
        tool: fields.string("toolName").unwrap_or_default().into_owned(),
        arguments: fields::arguments(input),
        line: 0,
    }
}

/// Reads a result in a model message: `output` has its kind; version 4 has a bare value in
/// `result`.
fn result(fields: &mut Fields<'_>, failed: bool, out: &mut Parts<'_>) {
    fields.take("toolName");
    let mut outcome = Outcome {
        call_id: fields.string("toolCallId").unwrap_or_default().into_owned(),
        is_error: failed.then_some(true),
        ..Outcome::default()
    };
    ending::read_members(&["isError"], fields, &mut outcome, out.session);
    let output = fields.take("output");
    let kinds = ["text", "json", "error-text", "error-json", "content", "execution-denied"];
    let typed = output.and_then(Fields::from_value).and_then(|mut output| {
        let kind = output.string("type").filter(|kind| kinds.contains(&kind.as_ref()))?;
        Some((kind, output.take("value").or_else(|| output.take("reason"))))
    });
    let value = match &typed {
        Some((kind, value)) => {
            outcome.refused = kind == "execution-denied";
            if kind.starts_with("error-") {
                outcome.is_error = Some(true);
            }
            *value
        }
        None => {
            output.or_else(|| ["result", "error"].into_iter().find_map(|name| fields.take(name)))
        }
    };
    match value {
        Some(raw) => blocks::read_content(raw, &mut outcome, out.session),
        None => ending::read_rest(fields, &mut outcome, out.session),
    }
    out.outcome(outcome);
}

/// Reads a part that contains the call and, once there is one, its result.
fn whole_call(tool: Option<&str>, fields: &mut Fields<'_>, out: &mut Parts<'_>) {
    let mut call = call(fields);
    if let Some(tool) = tool {
        tool.clone_into(&mut call.tool);
    }
    let state = fields.string("state").unwrap_or(Cow::Borrowed("(none)"));
    let mut outcome = Outcome { call_id: call.id.clone(), ..Outcome::default() };
    let value = fields.take("output").or_else(|| fields.take("result"));
    let fault = fields.take("errorText");
    fields.pass_over(&["step", "preliminary", "title", "resultProviderMetadata", "rawInput"]);
    let value = match state.as_ref() {
        "output-available" | "result" => value,
        "output-error" => {
            outcome.is_error = Some(true);
            fault
        }
        "output-denied" => {
            outcome.refused = true;
            value
        }
        // The call is not complete.
        "input-streaming" | "input-available" | "approval-requested" | "approval-responded"
        | "partial-call" | "call" => return out.call(call),
        state => {
            out.call(call);
            return out.session.skip_part("unknown call state", state);
        }
    };
    match value {
        Some(raw) => blocks::read_content(raw, &mut outcome, out.session),
        None => ending::read_rest(fields, &mut outcome, out.session),
    }
    // Mastra's marker that a tool threw an exception.
    let fault = value.and_then(Fields::from_value).and_then(|mut value| value.take("error"));
    if fault.is_some_and(|fault| fault.get() == "true") {
        outcome.is_error = Some(true);
    }
    out.call(call);
    out.outcome(outcome);
}
