use std::collections::{BTreeMap, HashMap, HashSet};

use counterfoil_model::{Arguments, Format, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::Value;

use crate::content::join;
use crate::ending;
use crate::log_reader::Reader;
use crate::otlp::{self, Event, Span};
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Source;
use crate::span_dialects;
use crate::tools::read_tools;

/// OpenTelemetry GenAI spans in OTLP JSON, as one document or one export per line. Spans of other
/// instrumentations and exports of tracers are read as far as [`span_dialects`] supports them.
///
/// A session is a conversation (`gen_ai.conversation.id`), or a trace if its spans do not name one.
pub(crate) struct Otel;

impl Reader for Otel {
    fn format(&self) -> Format {
        Format::Otel
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has_any(&["resourceSpans", "[].resourceSpans", "resource_spans"])
            || sketch.has_all(&["traceId", "spanId"])
            || sketch.has_all(&["[].traceId", "[].spanId"])
            || sketch.has_all(&["context.trace_id", "attributes"])
            || sketch.has("data.spans[].attributes")
            || sketch.has_all(&["observations[].type", "observations[].input"])
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        let mut spans = Vec::new();
        // Problems of the input as a whole are attached to its first session.
        let mut first = Session::new(name, Format::Otel);
        while let Some(piece) = source.next()? {
            match serde_json::from_str::<Value>(piece.text) {
                Ok(value) => {
                    if !otlp::spans(value, piece.line, &mut spans) {
                        first.skip("line without spans");
                    }
                }
                Err(error) => {
                    let line = piece.line;
                    first.unparsed(line, &error, piece.end);
                    source.broke(line, &error);
                }
            }
            first.problems(source.take_problems());
        }
        first.problems(source.take_problems());
        spans.iter_mut().for_each(span_dialects::translate);
        let mut first = Some(first);
        for (id, spans) in conversations(spans) {
            let mut session = first.take().unwrap_or_else(|| Session::new(name, Format::Otel));
            session.transcript.id = id;
            sink(
                Replay {
                    session,
                    seen: HashSet::new(),
                    called: HashSet::new(),
                    answered: HashSet::new(),
                    open: Vec::new(),
                    named: HashMap::new(),
                }
                .run(&spans),
            );
        }
        if let Some(session) = first {
            sink(session.finish());
        }
        Ok(())
    }
}

/// Groups the spans by conversation; conversations are in the order of their first span.
fn conversations(spans: Vec<Span>) -> Vec<(String, Vec<Span>)> {
    let mut of_trace: BTreeMap<String, String> = BTreeMap::new();
    for span in &spans {
        if let Some(Value::String(id)) = span.attributes.get("gen_ai.conversation.id") {
            of_trace.entry(span.trace.clone()).or_insert_with(|| id.clone());
        }
    }
    let mut groups: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for span in spans {
        let own = span.attributes.get("gen_ai.conversation.id").and_then(Value::as_str);
        let id = own.or_else(|| of_trace.get(&span.trace).map(String::as_str));
        let id = id.unwrap_or(&span.trace).to_owned();
        groups.entry(id).or_default().push(span);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, spans)| spans.iter().map(|span| span.start).min());
    groups
}

enum Happening<'s> {
    Input(&'s Span),
    Output(&'s Span),
    Event(&'s Span, &'s Event),
    Call(&'s Span),
    Result(&'s Span),
}

struct Replay {
    session: Session,
    /// Messages of earlier inputs; every input repeats the conversation so far.
    seen: HashSet<String>,
    called: HashSet<String>,
    answered: HashSet<String>,
    /// Calls that a model requested and that no span represents yet: id and tool.
    open: Vec<(String, String)>,
    /// The call ids assigned to spans without an id.
    named: HashMap<String, String>,
}

/// Attributes that name the model; the responding model comes first.
const MODELS: [&str; 5] = [
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
];

/// Whether instrumentations use this attribute for model messages or tool calls.
fn is_of_a_model(key: &str) -> bool {
    ["gen_ai.", "llm.", "ai.", "openinference.", "traceloop.", "tool.", "mlflow.", "langfuse."]
        .iter()
        .any(|prefix| key.starts_with(prefix))
}

impl Replay {
    fn run(mut self, spans: &[Span]) -> Reading {
        let mut happenings: Vec<(u64, u8, Happening<'_>)> = Vec::new();
        for span in spans {
            let operation = span.attributes.get("gen_ai.operation.name").and_then(Value::as_str);
            let tool = operation == Some("execute_tool")
                || (operation.is_none() && span.attributes.contains_key("gen_ai.tool.name"));
            if tool {
                happenings.push((span.start, 3, Happening::Call(span)));
                happenings.push((span.end.max(span.start), 0, Happening::Result(span)));
            } else if operation.is_some() {
                happenings.push((span.start, 1, Happening::Input(span)));
                happenings.push((span.end.max(span.start), 2, Happening::Output(span)));
            } else {
                let known = !span_dialects::only_wraps(span);
                if known && span.attributes.keys().any(|key| is_of_a_model(key)) {
                    self.session.skip_part("span", &span.name);
                } else {
                    self.session.skip_named("span", &span.name);
                }
                continue;
            }
            for event in &span.events {
                happenings.push((event.time, 1, Happening::Event(span, event)));
            }
        }
        happenings.sort_by_key(|(time, order, _)| (*time, *order));
        for (time, _, happening) in happenings {
            let time = i64::try_from(time / 1_000_000).ok().filter(|&time| time > 0);
            match happening {
                Happening::Input(span) => self.input(&span.attributes, span.line, time),
                Happening::Output(span) => {
                    let named = MODELS.iter().find_map(|name| span.attributes.get(*name)?.as_str());
                    named.into_iter().for_each(|model| self.session.next_model(model));
                    self.messages(span.attributes.get("gen_ai.output.messages"), span.line, time);
                }
                Happening::Event(span, event) => self.event(event, span.line, time),
                Happening::Call(span) => self.call(span, time),
                Happening::Result(span) => self.result(span, time),
            }
        }
        self.session.finish()
    }

    fn input(&mut self, attributes: &BTreeMap<String, Value>, line: usize, time: Option<i64>) {
        if let Some(value) = attributes.get("gen_ai.tool.definitions")
            && !self.session.transcript.catalog.is_known()
        {
            match read_tools(&structured(value)) {
                Ok(tools) => self.session.catalog(tools, line),
                Err(error) => {
                    self.session.problem(line, format!("the list of tools cannot be read: {error}"))
                }
            }
        }
        if let Some(value) = attributes.get("gen_ai.system_instructions") {
            let parts = structured(value);
            let message = serde_json::json!({ "role": "system", "parts": parts });
            self.message(&message, line, time);
        }
        self.messages(attributes.get("gen_ai.input.messages"), line, time);
    }

    fn event(&mut self, event: &Event, line: usize, time: Option<i64>) {
        let role = match event.name.as_str() {
            "gen_ai.system.message" => "system",
            "gen_ai.user.message" => "user",
            "gen_ai.assistant.message" | "gen_ai.choice" => "assistant",
            "gen_ai.tool.message" => "tool",
            "gen_ai.client.inference.operation.details" => {
                self.input(&event.attributes, line, time);
                let output = event.attributes.get("gen_ai.output.messages");
                return self.messages(output, line, time);
            }
            name => return self.session.skip_named("event", name),
        };
        let body = event.attributes.get("gen_ai.event.content").map(structured);
        let mut message = match body {
            Some(Value::Object(object)) => object,
            Some(other) => [("content".to_owned(), other)].into_iter().collect(),
            None => event.attributes.clone().into_iter().collect(),
        };
        if let Some(Value::Object(inner)) = message.get("message").map(structured) {
            message = inner;
        }
        message.insert("role".to_owned(), role.into());
        self.message(&Value::Object(message), line, time);
    }

    fn messages(&mut self, value: Option<&Value>, line: usize, time: Option<i64>) {
        let Some(value) = value else { return };
        match structured(value) {
            Value::Array(list) => list.iter().for_each(|message| self.message(message, line, time)),
            _ => self.session.problem(line, "the messages of a span are not a list"),
        }
    }

    /// Reads a message of the semantic conventions (`parts`) or of the older events (`content`,
    /// `tool_calls`).
    fn message(&mut self, value: &Value, line: usize, time: Option<i64>) {
        let role = match value.get("role").and_then(Value::as_str) {
            Some("system" | "developer") => Role::System,
            Some("user") => Role::User,
            Some("tool") => Role::Tool,
            _ => Role::Assistant,
        };
        let mut message = Message { line, time, ..Message::text(role, "") };
        let mut reasoning = String::new();
        match value.get("parts").or_else(|| value.get("content")) {
            Some(Value::Array(parts)) if role == Role::Tool && parts.iter().all(is_text) => {
                let mut text = String::new();
                for part in parts.iter().filter_map(|part| text_of(part, "text")) {
                    join(&mut text, &part);
                }
                let id = text_of(value, "id").or_else(|| text_of(value, "tool_call_id"));
                self.answer(id.unwrap_or_default(), text, &mut message);
            }
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, &mut message, &mut reasoning);
                }
            }
            Some(Value::String(text)) if role == Role::Tool => {
                let id = text_of(value, "id").or_else(|| text_of(value, "tool_call_id"));
                self.answer(id.unwrap_or_default(), text.clone(), &mut message);
            }
            Some(Value::String(text)) => message.text.clone_from(text),
            _ => {}
        }
        if let Some(Value::Array(calls)) = value.get("tool_calls").map(structured) {
            for call in &calls {
                let function = call.get("function").unwrap_or(call);
                message.calls.push(ToolCall {
                    id: text_of(call, "id").unwrap_or_default(),
                    tool: text_of(function, "name").unwrap_or_default(),
                    arguments: arguments(function.get("arguments")),
                    line,
                });
            }
        }
        let empty = message.text.is_empty() && message.calls.is_empty();
        if empty && message.outcomes.is_empty() && !reasoning.is_empty() {
            message.kind = MessageKind::Reasoning;
            message.text = reasoning;
        } else if empty && message.outcomes.is_empty() {
            return;
        }
        self.push_once(message);
    }

    /// Adds a message unless an earlier span already contained it.
    fn push_once(&mut self, message: Message) {
        let ids: Vec<&str> = message.calls.iter().map(|call| call.id.as_str()).collect();
        let results: Vec<&str> = message.outcomes.iter().map(|o| o.call_id.as_str()).collect();
        let key = format!("{:?}\0{}\0{ids:?}\0{results:?}", message.role, message.text);
        if self.seen.insert(key) {
            for call in &message.calls {
                if self.called.insert(call.id.clone()) {
                    self.open.push((call.id.clone(), call.tool.clone()));
                }
            }
            self.session.push(message);
        } else {
            self.session.skip("message repeated by a later span");
        }
    }

    fn part(&mut self, part: &Value, message: &mut Message, reasoning: &mut String) {
        let content = text_of(part, "content").or_else(|| text_of(part, "text"));
        match part.get("type").and_then(Value::as_str) {
            Some("text") | None => join(&mut message.text, &content.unwrap_or_default()),
            Some("reasoning" | "thinking") => join(reasoning, &content.unwrap_or_default()),
            Some("tool_call") => message.calls.push(ToolCall {
                id: text_of(part, "id").unwrap_or_default(),
                tool: text_of(part, "name").unwrap_or_default(),
                arguments: arguments(part.get("arguments")),
                line: message.line,
            }),
            Some("tool_call_response") => {
                let response = part.get("response").or_else(|| part.get("result"));
                let text = response.map(shown);
                let unread = text.is_none();
                self.answer(
                    text_of(part, "id").unwrap_or_default(),
                    text.unwrap_or_default(),
                    message,
                );
                if let Some(outcome) = message.outcomes.last_mut().filter(|_| unread) {
                    ending::unread(outcome, "response", &mut self.session);
                }
            }
            Some(kind) => self.session.skip_part("message part", kind),
        }
    }

    /// Adds a result unless the span of its tool already provided it.
    fn answer(&mut self, call_id: String, text: String, message: &mut Message) {
        if !call_id.is_empty() && !self.answered.insert(call_id.clone()) {
            return self.session.skip("result repeated by a later span");
        }
        message.outcomes.push(Outcome { call_id, text, line: message.line, ..Outcome::default() });
    }

    /// The id of a span's call. If it has none: the id of the first open call of that tool, or else
    /// one made from the span's name and start time.
    fn call_id(&mut self, span: &Span) -> String {
        if let Some(id) = attribute(span, "gen_ai.tool.call.id") {
            return id;
        }
        let own = format!("{}-{}", span.name, span.start);
        if let Some(id) = self.named.get(&own) {
            return id.clone();
        }
        let tool = attribute(span, "gen_ai.tool.name").unwrap_or_default();
        let free = |(id, name): &(String, String)| *name == tool && !self.answered.contains(id);
        let id = match self.open.iter().position(free) {
            Some(place) => self.open.remove(place).0,
            None => own.clone(),
        };
        self.named.insert(own, id.clone());
        id
    }

    fn call(&mut self, span: &Span, time: Option<i64>) {
        let id = self.call_id(span);
        if !self.called.insert(id.clone()) {
            return;
        }
        let line = span.line;
        let mut message = Message { line, time, ..Message::text(Role::Assistant, "") };
        message.calls.push(ToolCall {
            id,
            tool: attribute(span, "gen_ai.tool.name").unwrap_or_default(),
            arguments: arguments(span.attributes.get("gen_ai.tool.call.arguments")),
            line,
        });
        self.session.push(message);
    }

    fn result(&mut self, span: &Span, time: Option<i64>) {
        let call_id = self.call_id(span);
        if !self.answered.insert(call_id.clone()) {
            return self.session.skip("result repeated by a later span");
        }
        let error = attribute(span, "error.type");
        let result = span.attributes.get("gen_ai.tool.call.result").map(shown);
        let exception = span.events.iter().find_map(|event| {
            Some(event.attributes.get("exception.message")?.as_str()?.to_owned())
        });
        let failed = span.failed || error.is_some();
        let line = span.line;
        let mut message = Message { line, time, ..Message::text(Role::Tool, "") };
        message.outcomes.push(Outcome {
            call_id,
            text: result.or(exception).or(error).unwrap_or_default(),
            // If the span ended without an error, the tool did not fail.
            is_error: Some(failed),
            line,
            ..Outcome::default()
        });
        self.session.push(message);
    }
}

/// Whether a part is text, as in the chat API.
fn is_text(part: &Value) -> bool {
    part.get("type").is_none_or(|kind| kind == "text") && part.get("text").is_some()
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    span.attributes.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// Parses a structured value that may be recorded as JSON text.
fn structured(value: &Value) -> Value {
    let parsed = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_else(|| value.clone())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn arguments(value: Option<&Value>) -> Arguments {
    value.map_or_else(|| Arguments::raw("{}"), |value| Arguments::raw(shown(value)))
}
