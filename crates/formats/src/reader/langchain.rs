use std::borrow::Cow;

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::{Shape, Time, Values, read_values};
use crate::ending;
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;
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

    fn recognises(&self, sketch: &Sketch) -> bool {
        LISTS.iter().any(|at| {
            let content = |inner: &str| sketch.has(&format!("{at}{inner}content"));
            sketch.is_one_of(&format!("{at}type"), &TYPES) && (content("") || content("data."))
                || sketch.is_one_of(&format!("{at}kwargs.type"), &TYPES)
                || sketch.has(&format!("{at}lc")) && content("kwargs.")
        }) || ["", "[].", "runs[]."].iter().any(|at| {
            let has = |name: &str| sketch.has(&format!("{at}{name}"));
            has("run_type") && (has("inputs") || has("outputs"))
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
    fn rows<'v>(&self, value: &'v RawValue) -> Option<Vec<&'v RawValue>> {
        fields::array(value).or_else(|| {
            let mut export = Fields::from_value(value)?;
            if export.has("run_type") { None } else { export.array("runs") }
        })
    }

    fn session_of(&self, value: &RawValue) -> Option<String> {
        let mut run = Fields::from_value(value).filter(|run| run.has("run_type"))?;
        Some(run.string("trace_id").or_else(|| run.string("id"))?.into_owned())
    }

    /// Every run of a trace repeats messages of others. In the order in which the runs ended, each
    /// adds what happened last.
    fn time_of(&self, value: &RawValue) -> Option<Time> {
        let mut run = Fields::from_value(value).filter(|run| run.has("run_type"))?;
        let ended = run.string("end_time").or_else(|| run.string("start_time"));
        let ended = ended.and_then(|time| Some((time::millis_of(&time)?, time.into_owned())));
        Some(ended.unwrap_or((i64::MAX, String::new())))
    }

    fn shape(&self, value: &RawValue) -> Shape {
        let lists = ["messages", "values", "user_input", "inputs", "outputs"];
        match Fields::from_value(value) {
            Some(run) if run.has("run_type") => Shape::Part,
            Some(fields) if lists.iter().any(|list| fields.has(list)) => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        let fields = Fields::from_value(value);
        let is_run = fields.as_ref().is_some_and(|fields| fields.has("run_type"));
        let Some(mut fields) = fields.filter(|_| is_run || self.shape(value) == Shape::Session)
        else {
            return read_message(value, place, session);
        };
        if is_run {
            return read_traced(fields, value, place, session);
        }
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        let mut state = fields.object("values");
        let own = state.as_mut().unwrap_or(&mut fields);
        for name in ["messages", "user_input"] {
            own.take(name).into_iter().for_each(|raw| read_list(raw, place, session));
        }
        read_run(&mut fields, false, place, session);
        session.leave(&fields);
    }
}

/// Reads a run of a trace, with the runs inside it.
fn read_traced(
    mut run: Fields<'_>,
    value: &RawValue,
    place: &mut Locator<'_>,
    session: &mut Session,
) {
    for inner in run.array("child_runs").unwrap_or_default() {
        if let Some(fields) = Fields::from_value(inner) {
            read_traced(fields, inner, place, session);
        }
    }
    session.expect_repeats();
    let line = place.line_of(value.get());
    let kind = run.string("run_type").unwrap_or_default();
    if kind == "tool" {
        read_tool_run(&mut run, line, session);
    } else {
        read_run(&mut run, kind == "chain", place, session);
    }
    let trace = run.string("trace_id").or_else(|| run.string("id"));
    if let Some(id) = trace.filter(|id| !id.is_empty()) {
        session.transcript.id = id.into_owned();
    }
    session.leave(&run);
}

/// Reads the input and output of a run. What a chain returns may repeat what it was given.
fn read_run(
    fields: &mut Fields<'_>,
    is_chain: bool,
    place: &mut Locator<'_>,
    session: &mut Session,
) {
    if let Some(mut inputs) = fields.object("inputs") {
        if let Some(tools) = inputs.take("tools") {
            session.tools(tools, place.line_of(tools.get()));
        }
        inputs.take("messages").into_iter().for_each(|raw| read_list(raw, place, session));
    }
    let Some(mut outputs) = fields.object("outputs") else { return };
    if is_chain {
        session.expect_repeats();
    }
    outputs.take("messages").into_iter().for_each(|raw| read_list(raw, place, session));
    let generation = outputs.array("generations").into_iter().flatten().next();
    let generation = generation.and_then(|raw| match fields::array(raw) {
        Some(list) => list.into_iter().next(),
        None => Some(raw),
    });
    // The response of a model's own API.
    let choice = outputs.array("choices").into_iter().flatten().next();
    for answer in generation.into_iter().chain(choice) {
        if let Some(message) = Fields::from_value(answer).and_then(|mut one| one.take("message")) {
            read_message(message, place, session);
        }
    }
    session.leave(&outputs);
}

/// Reads the run of a tool: the result of a call, or a call that no message contains.
fn read_tool_run(run: &mut Fields<'_>, line: usize, session: &mut Session) {
    let tool = run.string("name").unwrap_or_default().into_owned();
    let outputs = run.take("outputs");
    let output =
        outputs.and_then(Fields::from_value).and_then(|mut outputs| outputs.take("output"));
    let mut message = output.and_then(Fields::from_value).filter(|output| output.has("content"));
    let named = message.as_mut().and_then(|message| message.string("tool_call_id"));
    let named = named.or_else(|| run.object("extra")?.string("tool_call_id"));
    let known = named.map(Cow::into_owned).or_else(|| session.open_call(&tool));
    let call_id = known.unwrap_or_else(|| {
        let id = run.string("id").unwrap_or_default().into_owned();
        let arguments = fields::arguments(run.take("inputs"));
        let call = ToolCall { id: id.clone(), tool, arguments, line };
        session.push(Message { line, calls: vec![call], ..Message::text(Role::Assistant, "") });
        id
    });
    let mut outcome = Outcome { call_id, line, ..Outcome::default() };
    let content = match &mut message {
        Some(message) => message.take("content"),
        None => output.or(outputs),
    };
    match content {
        Some(raw) if raw.get().starts_with('{') => raw.get().clone_into(&mut outcome.text),
        Some(raw) => blocks::read_content(raw, &mut outcome, session),
        None => {}
    }
    if let Some(mut message) = message {
        ending::read_ending(&mut message, &mut outcome, session);
    }
    ending::read_members(&["error"], run, &mut outcome, session);
    if content.is_none() && outcome.is_error.is_none() {
        ending::unread(&mut outcome, "outputs", session);
    }
    session.push(Message { line, outcomes: vec![outcome], ..Message::text(Role::Tool, "") });
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
    let kind = message.string("type").or(class).or(outer_kind).or_else(|| message.string("role"));
    let kind = kind.unwrap_or(Cow::Borrowed("(none)"));
    let role = match kind.trim_end_matches("Chunk").trim_end_matches("Message") {
        "human" | "Human" | "user" => Role::User,
        "ai" | "AI" | "assistant" => Role::Assistant,
        "system" | "System" | "developer" => Role::System,
        "tool" | "Tool" | "function" | "Function" => Role::Tool,
        "remove" | "Remove" => return session.skip("message that removes another message"),
        kind => {
            session.problem(line, format!("a message has the unknown type `{kind}`"));
            return session.skip_part("message type", kind);
        }
    };
    if let Some(mut metadata) = message.object("response_metadata") {
        let model = metadata.string("model_name").or_else(|| metadata.string("model"));
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
