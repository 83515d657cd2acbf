use counterfoil_model::{Arguments, ToolCall};

use crate::fields::{self, Fields};
use crate::session::Session;
use crate::source::Locator;

/// Takes the calls of an assistant message in the OpenAI chat format: `tool_calls`, and its
/// predecessor `function_call`.
pub(crate) fn read_tool_calls(
    fields: &mut Fields<'_>,
    place: &mut Locator<'_>,
    session: &mut Session,
) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for raw in ["tool_calls", "toolCalls", "invalid_tool_calls"]
        .into_iter()
        .filter_map(|name| fields.array(name))
        .flatten()
    {
        let line = place.line_of(raw.get());
        let Some(mut call) = Fields::from_value(raw) else {
            session.problem(line, "a tool call is not an object");
            continue;
        };
        let id = call.string("id").unwrap_or_default().into_owned();
        call.take("type");
        call.take("index");
        let (tool, arguments) = match call
            .take("function")
            .or_else(|| call.take("custom"))
            .map(|f| (f, Fields::from_value(f)))
        {
            Some((_, Some(mut function))) => {
                let read = name_and_arguments(&mut function);
                session.leave(&function);
                read
            }
            // Some loggers put the function's name directly here.
            Some((name, None)) => {
                let name = fields::string(name).unwrap_or_default().into_owned();
                (name, name_and_arguments(&mut call).1)
            }
            None => name_and_arguments(&mut call),
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
    let raw = ["arguments", "args", "input"].into_iter().find_map(|name| fields.take_any(name));
    (name, fields::arguments(raw))
}
