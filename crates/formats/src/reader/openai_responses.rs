use std::borrow::Cow;

use counterfoil_model::{Format, Message, Role};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::{Shape, Values, read_values};
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::responses_item::read_item;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};

/// OpenAI Responses: `{instructions, tools, input, output}`, a list of items, or one of either per
/// line.
pub(crate) struct OpenaiResponses;

/// Item types that no other format has.
const ITEMS: [&str; 12] = [
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "computer_call",
    "mcp_call",
    "mcp_list_tools",
    "item_reference",
];

impl Reader for OpenaiResponses {
    fn format(&self) -> Format {
        Format::OpenaiResponses
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        // A logged exchange in the chat format.
        let chat = ["input.messages", "input[].tool_calls", "output[].message", "output.choices"];
        if sketch.has_any(&chat) {
            return false;
        }
        ["type", "[].type", "input[].type", "output[].type", "[].input[].type", "[].output[].type"]
            .iter()
            .any(|path| sketch.is_one_of(path, &ITEMS))
            || sketch.is_one_of("object", &["response"])
            || sketch.is_one_of("output[].type", &["message", "reasoning"])
            || sketch.has("input[].role")
            || (sketch.has("input") && sketch.has_any(&["instructions", "output[].type"]))
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

impl Values for OpenaiResponses {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::from_value(value) {
            Some(fields) if fields.has("type") || fields.has("role") => Shape::Part,
            Some(fields) if fields.has("input") || fields.has("output") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return item(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        if let Some(raw) = fields.take("tools") {
            session.tools(raw, place.line_of(raw.get()));
        }
        if let Some(raw) = fields.take("instructions") {
            let line = place.line_of(raw.get());
            let blocks = blocks::read_blocks(raw, line, session);
            session.push(Message { line, ..Message::text(Role::System, blocks.text) });
        }
        for name in ["input", "output"] {
            let Some(raw) = fields.take(name) else { continue };
            if let Some(list) = fields::array(raw) {
                list.into_iter().for_each(|raw| item(raw, place, session));
            } else if let Some(text) = fields::string(raw) {
                let role = if name == "input" { Role::User } else { Role::Assistant };
                let line = place.line_of(raw.get());
                session.push(Message { line, ..Message::text(role, text) });
            }
        }
        session.leave(&fields);
    }
}

fn item(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "an item is not an object");
    };
    let kind = fields.string("type").unwrap_or(Cow::Borrowed("message"));
    if !read_item(&kind, &mut fields, line, None, session) {
        session.skip_part("item type", &kind);
    }
}
