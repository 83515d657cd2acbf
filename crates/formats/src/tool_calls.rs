use counterfoil_model::{Arguments, ToolCall};

use crate::blocks;
use crate::fields::Fields;
use crate::session::Session;
use crate::source::Locator;

/// Takes the calls of an assistant message in the OpenAI chat form: `tool_calls`, and the
/// `function_call` that came before it.
pub(crate) fn read_tool_calls(
    fields: &mut Fields<'_>,
    place: &mut Locator<'_>,
    session: &mut Session,
) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for raw in fields.array("tool_calls").unwrap_or_default() {
        let line = place.line_of(raw.get());
        let Some(mut call) = Fields::of(raw) else {
            session.problem(line, "a tool call is not an object");
            continue;
        };
        let id = call.string("id").unwrap_or_default().into_owned();
        call.take("type");
        call.take("index");
        let (tool, arguments) =
            if let Some(mut function) = call.object("function").or_else(|| call.object("custom")) {
                let read = name_and_arguments(&mut function);
                session.leave(&function);
                read
            } else {
                name_and_arguments(&mut call)
            };
        session.leave(&call);
        calls.push(ToolCall { id, tool, arguments, line });
    }
    if let Some(mut call) = fields.object("function_call") {
        let (tool, arguments) = name_and_arguments(&mut call);
        session.leave(&call);
        calls.push(ToolCall { id: String::new(), tool, arguments, line: 0 });
    }
    calls
}

fn name_and_arguments(fields: &mut Fields<'_>) -> (String, Arguments) {
    let name = fields.string("name").unwrap_or_default().into_owned();
    let raw = fields.take_any("arguments").or_else(|| fields.take_any("input"));
    (name, blocks::arguments(raw))
}
