use counterfoil_model::{Format, Message, Outcome, Role, Status, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::documents::{Shape, Values, read_values};
use crate::ending;
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::receipts::read_receipts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;

/// FK fixture: `{output, toolRegistry, invocations, receipts?, steps?}`; one, a list, or one per
/// line.
///
/// The calls and steps are message 0, their results message 1 (neither if there are none); the
/// output is the last message.
pub(crate) struct Fk;

impl Reader for Fk {
    fn format(&self) -> Format {
        Format::Fk
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[]."].iter().any(|prefix| {
            let has = |name: &str| sketch.has(&format!("{prefix}{name}"));
            has("output") && (has("toolRegistry") || has("invocations"))
        })
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        read_values(self, self.format(), source, name, sink)
    }
}

impl Values for Fk {
    fn shape(&self, _value: &RawValue) -> Shape {
        Shape::Session
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        let line = place.line_of(value.get());
        let Some(mut fields) = Fields::from_value(value) else {
            return session.problem(line, "a fixture is not an object");
        };
        if let Some(raw) = fields.take("toolRegistry") {
            session.tools(raw, place.line_of(raw.get()));
        }
        let mut request = Message { line, ..Message::text(Role::Assistant, "") };
        let mut answered = Message { line, ..Message::text(Role::Tool, "") };
        for raw in fields.array("invocations").unwrap_or_default() {
            let line = place.line_of(raw.get());
            invocation(raw, line, session, &mut request, &mut answered);
        }
        for raw in fields.array("steps").unwrap_or_default() {
            let line = place.line_of(raw.get());
            step(raw, line, session, &mut request, &mut answered);
        }
        if let Some(raw) = fields.take("receipts") {
            read_receipts(raw, place.line_of(raw.get()), session);
        }
        if !request.calls.is_empty() {
            session.push(request);
            session.push(answered);
        }
        match fields.take("output") {
            Some(raw) => {
                let line = place.line_of(raw.get());
                let text = blocks::read_blocks(raw, line, session).text;
                session.push(Message { line, ..Message::text(Role::Assistant, text) });
            }
            None => session.problem(line, "the fixture has no `output`"),
        }
        session.leave(&fields);
    }
}

fn invocation(
    raw: &RawValue,
    line: usize,
    session: &mut Session,
    request: &mut Message,
    answered: &mut Message,
) {
    let id = format!("invocation-{}", request.calls.len() + 1);
    if let Some(tool) = fields::string(raw) {
        return pair(id, &tool, None, Outcome::default(), line, request, answered);
    }
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "an invocation is not an object");
    };
    let named = ["tool", "name", "tool_name", "toolName"].iter().find_map(|n| fields.string(n));
    let Some(tool) = named else {
        return session.problem(line, "an invocation has no `tool`");
    };
    let id = fields.string("id").map_or(id, std::borrow::Cow::into_owned);
    let arguments = ["arguments", "args", "input", "params"].iter().find_map(|n| fields.take(n));
    let mut outcome = Outcome::default();
    if let Some(raw) = ["result", "output"].iter().find_map(|n| fields.take(n)) {
        blocks::read_content(raw, &mut outcome, session);
    }
    ending::read_members(&["status", "error", "is_error"], &mut fields, &mut outcome, session);
    if let Some(time) = fields.take("timestamp").and_then(time::millis) {
        request.time = request.time.or(Some(time));
    }
    ending::read_rest(&fields, &mut outcome, session);
    session.leave(&fields);
    pair(id, &tool, arguments, outcome, line, request, answered);
}

/// Reads a workflow step as a call with its own name and a success flag.
fn step(
    raw: &RawValue,
    line: usize,
    session: &mut Session,
    request: &mut Message,
    answered: &mut Message,
) {
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "a step is not an object");
    };
    let Some(name) = ["step", "name", "action"].iter().find_map(|n| fields.string(n)) else {
        return session.problem(line, "a step has no name");
    };
    let word = fields.string("status").unwrap_or_default();
    let succeeded = Status::from_dialect(&word).is_some_and(Status::succeeded);
    let text = match fields.take("error") {
        Some(raw) => content::result_text(raw, session),
        None => word.into_owned(),
    };
    let outcome = Outcome { text, is_error: Some(!succeeded), ..Outcome::default() };
    session.leave(&fields);
    let id = format!("step-{}", request.calls.len() + 1);
    pair(id, &name, None, outcome, line, request, answered);
}

fn pair(
    id: String,
    tool: &str,
    arguments: Option<&RawValue>,
    outcome: Outcome,
    line: usize,
    request: &mut Message,
    answered: &mut Message,
) {
    let arguments = fields::arguments(arguments);
    request.calls.push(ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, line });
    answered.outcomes.push(Outcome { call_id: id, line, ..outcome });
}
