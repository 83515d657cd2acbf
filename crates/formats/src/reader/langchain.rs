use std::borrow::Cow;

use counterfoil_model::{Format, Message, Outcome, Role};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::{Shape, Values, read_values};
use crate::ending;
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::tool_calls::read_tool_calls;

/// LangChain messages in all three serialisations (`{type, data}`, `{lc, kwargs}` and bare): as a
/// list, the state of a LangGraph thread, a LangSmith run, or a Ragas sample.
pub(crate) struct Langchain;

const TYPES: [&str; 6] = ["human", "ai", "system", "tool", "AIMessageChunk", "function"];

/// Paths at which a list of messages may be found.
const LISTS: [&str; 9] = [
    "",
    "[].",
    "messages[].",
    "[].messages[].",
    "values.messages[].",
    "user_input[].",
    "inputs.messages[].",
    "inputs.messages[][].",
    "outputs.messages[].",
];

impl Reader for Langchain {
    fn format(&self) -> Format {
        Format::Langchain
    }

    fn looks_for(&self) -> &'static str {
        "messages with `type` human, ai or tool, possibly under `values`, `inputs` or `kwargs`"
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        LISTS.iter().any(|at| {
            let content = |inner: &str| sketch.has(&format!("{at}{inner}content"));
            sketch.is_one_of(&format!("{at}type"), &TYPES) && (content("") || content("data."))
                || sketch.is_one_of(&format!("{at}kwargs.type"), &TYPES)
                || sketch.has(&format!("{at}lc")) && content("kwargs.")
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

impl Values for Langchain {
    fn shape(&self, value: &RawValue) -> Shape {
        let lists = ["messages", "values", "user_input", "inputs", "outputs"];
        match Fields::from_value(value) {
            Some(fields) if lists.iter().any(|list| fields.has(list)) => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_message(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        let mut state = fields.object("values");
        let own = state.as_mut().unwrap_or(&mut fields);
        for name in ["messages", "user_input"] {
            own.take(name).into_iter().for_each(|raw| read_list(raw, place, session));
        }
        read_run(&mut fields, place, session);
        session.leave(&fields);
    }
}

/// Reads the input and output of a run. A graph's output state includes its input state.
fn read_run(fields: &mut Fields<'_>, place: &mut Locator<'_>, session: &mut Session) {
    let mut inputs = fields.object("inputs");
    let mut outputs = fields.object("outputs");
    if let Some(inputs) = &mut inputs
        && let Some(tools) = inputs.take("tools")
    {
        session.tools(tools, place.line_of(tools.get()));
    }
    let is_chain = fields.string("run_type").as_deref() == Some("chain");
    let asked = inputs.as_mut().and_then(|inputs| inputs.take("messages"));
    let answered = outputs.as_mut().and_then(|outputs| outputs.take("messages"));
    match (asked, answered) {
        (_, Some(answered)) if is_chain || asked.is_none() => {
            return read_list(answered, place, session);
        }
        (asked, answered) => {
            asked.into_iter().chain(answered).for_each(|raw| read_list(raw, place, session));
        }
    }
    let generations = outputs.as_mut().and_then(|outputs| outputs.array("generations"));
    let first = generations.into_iter().flatten().next();
    let first = first.and_then(|raw| match fields::array(raw) {
        Some(list) => list.into_iter().next(),
        None => Some(raw),
    });
    if let Some(message) =
        first.and_then(Fields::from_value).and_then(|mut first| first.take("message"))
    {
        read_message(message, place, session);
    }
}

/// Reads a list of messages. Of a list of lists, which are independent requests, only the first.
fn read_list(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let list = fields::array(raw).unwrap_or_default();
    match list.first().copied().and_then(fields::array) {
        Some(inner) => {
            if list.len() > 1 {
                session.skip("list of messages after the first");
            }
            inner.into_iter().for_each(|raw| read_message(raw, place, session));
        }
        None => list.into_iter().for_each(|raw| read_message(raw, place, session)),
    }
}

fn read_message(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut outer) = Fields::from_value(raw) else {
        return session.problem(line, "a message is not an object");
    };
    let wrapped = outer.object("data").or_else(|| outer.object("kwargs"));
    let class = outer.array("id").and_then(|names| names.last().copied().and_then(fields::string));
    let outer_kind = outer.string("type");
    let mut message = wrapped.unwrap_or(outer);
    let kind = message.string("type").or(class).or(outer_kind).unwrap_or(Cow::Borrowed("(none)"));
    let role = match kind.trim_end_matches("Chunk").trim_end_matches("Message") {
        "human" | "Human" => Role::User,
        "ai" | "AI" => Role::Assistant,
        "system" | "System" => Role::System,
        "tool" | "Tool" | "function" | "Function" => Role::Tool,
        "remove" | "Remove" => return session.skip("message that removes another message"),
        kind => {
            session.problem(line, format!("a message has the unknown type `{kind}`"));
            return session.skip_part("message type", kind);
        }
    };
    if let Some(mut told) = message.object("response_metadata") {
        let model = told.string("model_name").or_else(|| told.string("model"));
        model.into_iter().for_each(|model| session.next_model(&model));
    }
    message.pass_over(&["name", "id", "usage_metadata", "example", "artifact"]);
    let mut extra = message.object("additional_kwargs");
    let content = message.take("content");
    if role == Role::Tool {
        let call_id = message.string("tool_call_id").unwrap_or_default().into_owned();
        let mut outcome = Outcome { call_id, line, ..Outcome::default() };
        if let Some(raw) = content {
            blocks::read_content(raw, &mut outcome, session);
        }
        ending::read_ending(&mut message, &mut outcome, session);
        ending::read_rest(&message, &mut outcome, session);
        session.leave(&message);
        return session.push(Message { line, outcomes: vec![outcome], ..Message::text(role, "") });
    }
    let content = content.map(|raw| blocks::read_blocks(raw, line, session)).unwrap_or_default();
    let mut calls = read_tool_calls(&mut message, place, session);
    // The same calls in the provider's own format.
    let again = extra.as_mut().map(|extra| read_tool_calls(extra, place, session));
    for call in content.calls.into_iter().chain(again.unwrap_or_default()) {
        if calls.iter().all(|known| known.id != call.id) {
            calls.push(call);
        }
    }
    session.leave(&message);
    session.push(Message { line, calls, ..Message::text(role, content.text) });
}
