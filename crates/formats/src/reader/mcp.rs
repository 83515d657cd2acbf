use std::collections::HashMap;

use counterfoil_model::{Format, Message, Origin, Outcome, Role, Tool, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::ending;
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;
use crate::tools::read_tools;

/// MCP message log: JSON-RPC messages, one per line or in a list, bare or wrapped with a direction
/// and a time.
pub(crate) struct Mcp;

/// Members under which loggers put the message.
const WRAPPERS: [&str; 5] = ["message", "payload", "data", "msg", "body"];

impl Reader for Mcp {
    fn format(&self) -> Format {
        Format::Mcp
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[]."].iter().any(|prefix| {
            sketch.has(&format!("{prefix}jsonrpc"))
                || WRAPPERS.iter().any(|wrapper| sketch.has(&format!("{prefix}{wrapper}.jsonrpc")))
        })
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        let mut log =
            Log { session: Session::new(name, Format::Mcp), pending: HashMap::new(), tools: None };
        while let Some(piece) = source.next()? {
            let mut place = Locator::new(piece.text, piece.line);
            match serde_json::from_str::<&RawValue>(piece.text) {
                Ok(raw) => log.value(raw, &mut place),
                Err(error) => {
                    let line = piece.line;
                    log.session.unparsed(line, &error, piece.end);
                    source.broke(line, &error);
                }
            }
            log.session.problems(source.take_problems());
        }
        log.session.problems(source.take_problems());
        sink(log.finish());
        Ok(())
    }
}

/// A request that has not been answered yet.
struct OpenRequest {
    method: String,
    /// The recorded direction, if any.
    direction: Option<String>,
}

struct Log {
    session: Session,
    /// Pending requests by the text of their id. Each side numbers its own requests, so the
    /// direction is compared as well.
    pending: HashMap<String, Vec<OpenRequest>>,
    tools: Option<Vec<Tool>>,
}

impl Log {
    fn value(&mut self, raw: &RawValue, place: &mut Locator<'_>) {
        match fields::array(raw) {
            Some(list) => list.into_iter().for_each(|raw| self.entry(raw, place)),
            None => self.entry(raw, place),
        }
    }

    fn entry(&mut self, raw: &RawValue, place: &mut Locator<'_>) {
        let line = place.line_of(raw.get());
        let Some(mut fields) = Fields::from_value(raw) else {
            return self.session.problem(line, "a message is not an object");
        };
        if fields.has("jsonrpc") {
            return self.message(&mut fields, line, None, None);
        }
        let time = ["timestamp", "time", "ts"].iter().find_map(|name| fields.take(name));
        let time = time.and_then(time::millis);
        let direction = ["direction", "dir", "from"].iter().find_map(|name| fields.string(name));
        let Some(inner) = WRAPPERS.iter().find_map(|wrapper| fields.take(wrapper)) else {
            return self.session.skip("line without a message");
        };
        let text = fields::string(inner);
        let inner = match &text {
            // Some loggers store the message as the text that was sent.
            Some(text) => Fields::parse(text).ok(),
            None => Fields::from_value(inner),
        };
        match inner {
            Some(mut inner) => self.message(&mut inner, line, time, direction.as_deref()),
            None => self.session.problem(line, "the message is not an object"),
        }
        self.session.leave(&fields);
    }

    fn message(
        &mut self,
        fields: &mut Fields<'_>,
        line: usize,
        time: Option<i64>,
        direction: Option<&str>,
    ) {
        fields.take("jsonrpc");
        let id = fields.take("id").map(|raw| raw.get().trim_matches('"').to_owned());
        let method = fields.string("method");
        let bare = Message { line, time, ..Message::text(Role::Assistant, "") };
        match (method, id) {
            (Some(method), Some(id)) => {
                if method == "tools/call" {
                    self.call(id.clone(), fields, bare);
                } else {
                    self.session.skip_named("message", &method);
                }
                let request = OpenRequest {
                    method: method.into_owned(),
                    direction: direction.map(str::to_owned),
                };
                self.pending.entry(id).or_default().push(request);
            }
            (Some(method), None) => self.session.skip_named("message", &method),
            (None, Some(id)) => self.answer(&id, fields, bare, direction),
            (None, None) => self.session.skip("message without method or id"),
        }
    }

    fn call(&mut self, id: String, fields: &mut Fields<'_>, mut message: Message) {
        let mut params = fields.object("params");
        let params = params.as_mut();
        let (tool, arguments) =
            params.map_or((None, None), |params| (params.string("name"), params.take("arguments")));
        message.calls.push(ToolCall {
            id,
            tool: tool.unwrap_or_default().into_owned(),
            arguments: fields::arguments(arguments),
            line: message.line,
        });
        self.session.push(message);
    }

    fn answer(
        &mut self,
        id: &str,
        fields: &mut Fields<'_>,
        message: Message,
        direction: Option<&str>,
    ) {
        let request = self.pending.get_mut(id).and_then(|requests| {
            // A response goes in the opposite direction of its request.
            let place =
                requests.iter().rposition(|request| match (&request.direction, direction) {
                    (Some(one), Some(other)) => one != other,
                    _ => true,
                })?;
            Some(requests.remove(place))
        });
        let result = fields.take("result");
        let error = fields.take("error");
        let looks_like_call = result
            .and_then(Fields::from_value)
            .is_some_and(|result| result.has("content") || result.has("structuredContent"));
        match request {
            Some(request) if request.method == "tools/list" => {
                if let Some(result) = result {
                    self.list(result, message.line);
                }
            }
            Some(request) if request.method == "tools/call" => {
                self.outcome(id, result, error, message);
            }
            Some(request) => self.session.skip_named("response to", &request.method),
            None if looks_like_call => self.outcome(id, result, error, message),
            None => self.session.skip("response to an unrecorded request"),
        }
    }

    fn outcome(
        &mut self,
        id: &str,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
        mut message: Message,
    ) {
        let mut outcome =
            Outcome { call_id: id.to_owned(), line: message.line, ..Outcome::default() };
        // A response with both a result and an error has failed.
        if let Some(raw) = error {
            outcome.is_error = Some(true);
            let text = Fields::from_value(raw).and_then(|mut error| error.string("message"));
            outcome.text = text.map_or_else(|| raw.get().to_owned(), |text| text.into_owned());
        } else if let Some(mut result) = result.and_then(Fields::from_value) {
            if result.string("resultType").as_deref() == Some("input_required") {
                return self.session.skip("result that asks for input");
            }
            self.read_result(&mut result, &mut outcome);
        } else {
            ending::unread(&mut outcome, "result", &mut self.session);
        }
        message.role = Role::Tool;
        message.outcomes.push(outcome);
        self.session.push(message);
    }

    /// Reads a tool's result. Without content, the end of the call is unknown; with content, a
    /// missing error mark means success.
    fn read_result(&mut self, result: &mut Fields<'_>, outcome: &mut Outcome) {
        let has_content = ["content", "structuredContent"].iter().any(|name| result.has(name));
        if let Some(raw) = result.take("content") {
            blocks::read_content(raw, outcome, &mut self.session);
        }
        if let Some(raw) = result.take("structuredContent").filter(|_| outcome.text.is_empty()) {
            raw.get().clone_into(&mut outcome.text);
            outcome.unread = false;
        }
        ending::read_members(&["isError", "error"], result, outcome, &mut self.session);
        outcome.is_error = outcome.is_error.or(Some(false));
        if !has_content && outcome.is_error == Some(false) {
            ending::unread(outcome, "content", &mut self.session);
        }
        self.session.leave(result);
    }

    /// Adds a page of tools to the earlier ones; a tool that is listed again replaces the earlier
    /// one.
    fn list(&mut self, result: &RawValue, line: usize) {
        let read = serde_json::from_str(result.get())
            .map_err(|error| error.to_string())
            .and_then(|value| read_tools(&value).map_err(|error| error.to_string()));
        match read {
            Ok(tools) => {
                let all = self.tools.get_or_insert_default();
                for mut tool in tools {
                    // The log is of a single connection, and the server has no configured name.
                    tool.origin = Origin::External;
                    all.retain(|other| other.name != tool.name);
                    all.push(tool);
                }
            }
            Err(error) => {
                self.session.problem(line, format!("the list of tools cannot be read: {error}"));
            }
        }
    }

    fn finish(mut self) -> Reading {
        if let Some(tools) = self.tools.take() {
            self.session.catalog(tools, 0);
        }
        self.session.finish()
    }
}
