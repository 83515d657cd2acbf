use std::borrow::Cow;

use counterfoil_model::{
    Format, Gap, Message, MessageKind, Outcome, Role, Status, ToolCall, exit_code_of,
};

use crate::blocks;
use crate::content;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Sessions of GitHub Copilot CLI: events by `type`, each with its `data`. A call is recorded when
/// it is requested and again when it starts.
pub(crate) struct CopilotCli;

const EVENTS: [&str; 8] = [
    "session.start",
    "user.message",
    "assistant.message",
    "assistant.turn_start",
    "assistant.turn_end",
    "tool.execution_start",
    "tool.execution_complete",
    "session.model_change",
];

/// Prefixes of events without calls or results.
const BESIDE: [&str; 10] = [
    "session.",
    "assistant.turn_",
    "assistant.intent",
    "assistant.usage",
    "subagent.",
    "hook.",
    "permission.",
    "skill.",
    "user_input.",
    "abort",
];

impl Messages for CopilotCli {
    fn format(&self) -> Format {
        Format::CopilotCli
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "events[]."].into_iter().any(|at| {
            sketch.has(&format!("{at}data")) && sketch.is_one_of(&format!("{at}type"), &EVENTS)
        })
    }

    fn lists(&self) -> &'static [&'static str] {
        &["events"]
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let kind = fields.string("type").unwrap_or(Cow::Borrowed("without type"));
        let time = fields.take("timestamp").and_then(time::millis);
        fields.pass_over(&["id", "parentId", "ephemeral"]);
        let Some(mut data) = fields.object("data") else {
            return session.skip_part("event without data", &kind);
        };
        // Events of a sub-agent name the call that started it.
        let agent = data.string("parentToolCallId").map(Cow::into_owned);
        let bare = |role| Message { line, time, agent: agent.clone(), ..Message::text(role, "") };
        match kind.as_ref() {
            "session.start" | "session.resume" => read_start(&mut data, session),
            "session.model_change" => {
                if let Some(model) = data.string("newModel") {
                    session.next_model(&model);
                }
            }
            "session.compaction_complete" | "session.truncation" => session.gap(Gap::Compacted),
            "system.message" => read_message(&mut data, bare(Role::System), session),
            "user.message" => read_message(&mut data, bare(Role::User), session),
            "assistant.message" => read_message(&mut data, bare(Role::Assistant), session),
            "assistant.reasoning" => {
                let text = data.string("content").unwrap_or_default().into_owned();
                let kind = MessageKind::Reasoning;
                session.push(Message { kind, text, ..bare(Role::Assistant) });
            }
            "tool.execution_start" => read_start_of_call(&mut data, bare(Role::Assistant), session),
            "tool.execution_complete" => read_end_of_call(&mut data, bare(Role::Tool), session),
            "subagent.started" => session.gap(Gap::UnrecordedSubagent),
            "tool.execution_partial_result" | "tool.execution_progress" | "tool.user_requested" => {
                session.skip_named("event", &kind);
            }
            other if is_beside(other) => {
                session.skip_named("event", other);
            }
            other => session.skip_part("event", other),
        }
    }
}

fn is_beside(kind: &str) -> bool {
    kind.ends_with("_delta") || BESIDE.iter().any(|begin| kind.starts_with(begin))
}

fn read_start(data: &mut Fields<'_>, session: &mut Session) {
    if let Some(id) = data.string("sessionId").filter(|id| !id.is_empty()) {
        session.transcript.id = id.into_owned();
    }
    if let Some(model) = data.string("selectedModel") {
        session.next_model(&model);
    }
    if let Some(mut context) = data.object("context") {
        session.transcript.directory = context.string("cwd").map(Cow::into_owned);
    }
}

fn read_message(data: &mut Fields<'_>, bare: Message, session: &mut Session) {
    let line = bare.line;
    if bare.role == Role::Assistant
        && let Some(model) = data.string("model")
    {
        session.next_model(&model);
    }
    let requests = data.array("toolRequests").unwrap_or_default();
    let mut out = Parts::new(bare, session);
    out.reasoning(&data.string("reasoningText").unwrap_or_default());
    if let Some(raw) = data.take("content") {
        let content = blocks::read_blocks(raw, line, out.session);
        out.text(&content.text);
    }
    for raw in requests {
        match Fields::from_value(raw) {
            Some(mut request) => {
                let call = call(&mut request, "name");
                out.session.positions.insert(call.id.clone(), line);
                out.call(call);
                request.pass_over(&["type", "toolTitle", "intentionSummary"]);
                out.session.leave(&request);
            }
            None => out.session.problem(line, "a tool request is not an object"),
        }
    }
    out.done();
    data.pass_over(&["messageId", "interactionId", "transformedContent", "attachments"]);
    data.pass_over(&["source", "reasoningOpaque", "encryptedContent", "phase", "outputTokens"]);
    data.pass_over(&["turnId", "requestId", "role", "agentMode"]);
    session.leave(data);
}

fn call(fields: &mut Fields<'_>, name: &str) -> ToolCall {
    ToolCall {
        id: fields.string("toolCallId").unwrap_or_default().into_owned(),
        tool: fields.string(name).unwrap_or_default().into_owned(),
        arguments: fields::arguments(fields.take("arguments")),
        line: 0,
    }
}

/// Adds a call that no earlier message requested.
fn read_start_of_call(data: &mut Fields<'_>, bare: Message, session: &mut Session) {
    let call = call(data, "toolName");
    if session.positions.insert(call.id.clone(), bare.line).is_none() {
        session.push(Message { calls: vec![call], ..bare });
    }
}

fn read_end_of_call(data: &mut Fields<'_>, bare: Message, session: &mut Session) {
    let call_id = data.string("toolCallId").unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, line: bare.line, ..Outcome::default() };
    match data.take("result").map(|raw| (raw, Fields::from_value(raw))) {
        Some((_, Some(mut result))) if result.has("content") => {
            if let Some(raw) = result.take("content") {
                blocks::read_content(raw, &mut outcome, session);
            }
            // These members repeat the result for display.
            result.pass_over(&["detailedContent", "contents"]);
            ending::read_ending(&mut result, &mut outcome, session);
        }
        Some((raw, None)) if fields::string(raw).is_some() => {
            blocks::read_content(raw, &mut outcome, session);
        }
        Some(_) => ending::unread(&mut outcome, "result", session),
        None => {}
    }
    read_error(data, &mut outcome, session);
    if !data.has("success") {
        ending::unread(&mut outcome, "success", session);
    }
    ending::read_ending(data, &mut outcome, session);
    outcome.exit_code = outcome.exit_code.or_else(|| exit_code(&outcome.text));
    data.pass_over(&["toolName", "toolTelemetry", "isUserRequested", "interactionId", "model"]);
    data.pass_over(&["turnId"]);
    ending::read_rest(data, &mut outcome, session);
    session.leave(data);
    session.push(Message { outcomes: vec![outcome], ..bare });
}

/// Reads an error. A denial code means that the call never ran.
fn read_error(data: &mut Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    let Some(raw) = data.take("error") else { return };
    outcome.is_error = Some(true);
    let Some(mut error) = Fields::from_value(raw) else {
        return blocks::read_content(raw, outcome, session);
    };
    let status = error.string("code").and_then(|code| Status::from_dialect(&code));
    outcome.refused = matches!(status, Some(Status::Denied | Status::Refused));
    let text = error.string("message").unwrap_or(Cow::Borrowed(raw.get()));
    content::join(&mut outcome.text, &text);
}

/// The exit code in the last line of a shell's output. The call itself counts as successful
/// whatever the command returned.
fn exit_code(text: &str) -> Option<i32> {
    let last = text.trim_end().lines().next_back()?;
    exit_code_of(last.strip_prefix("<exited with exit code ")?.strip_suffix('>')?)
}
