use std::borrow::Cow;

use counterfoil_model::{Arguments, Format, Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::content;
use crate::documents::Messages;
use crate::fields::{self, Fields};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Locator;

/// Training data in ShareGPT format: `conversations` of `from` and `value`.
pub(crate) struct Sharegpt;

impl Messages for Sharegpt {
    fn format(&self) -> Format {
        Format::Sharegpt
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[]."].into_iter().any(|at| {
            let place = |member: &str| format!("{at}conversations[].{member}");
            sketch.has(&place("from")) && sketch.has(&place("value"))
        })
    }

    fn lists(&self) -> &'static [&'static str] {
        &["conversations"]
    }

    fn read_head(&self, fields: &mut Fields<'_>, place: &mut Locator<'_>, session: &mut Session) {
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        if let Some(text) = fields.string("system") {
            session.push(Message::text(Role::System, text));
        }
        // The list is usually JSON in a string.
        let Some(raw) = fields.take("tools") else { return };
        let line = place.line_of(raw.get());
        match crate::fields::string(raw) {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => match serde_json::from_str::<&RawValue>(&text) {
                Ok(list) => session.tools(list, line),
                Err(_) => session.problem(line, "the list of tools is not JSON"),
            },
            None => session.tools(raw, line),
        }
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let from = fields.string("from").unwrap_or(Cow::Borrowed("(none)"));
        let value = fields.take("value");
        let text = value.map(|raw| content::result_text(raw, session)).unwrap_or_default();
        let bare = |role| Message { line, ..Message::text(role, "") };
        let message = match from.as_ref() {
            "system" => Message { text, ..bare(Role::System) },
            "human" | "user" => Message { text, ..bare(Role::User) },
            "gpt" | "assistant" | "model" | "chatgpt" | "bot" => {
                Message { text, ..bare(Role::Assistant) }
            }
            "function_call" => Message { calls: calls(&text), ..bare(Role::Assistant) },
            "observation" | "tool" | "function_response" => {
                let outcome = Outcome { text, line, ..Outcome::default() };
                Message { outcomes: vec![outcome], ..bare(Role::Tool) }
            }
            from => {
                session.problem(line, format!("a message has the unknown sender `{from}`"));
                return session.skip_part("message from", from);
            }
        };
        session.push(message);
    }
}

/// One call, or a list of calls, as text: `{"name": …, "arguments": …}`.
fn calls(text: &str) -> Vec<ToolCall> {
    let one = |text: &str| {
        let mut fields = Fields::parse(text).ok()?;
        let tool = fields.string("name")?.into_owned();
        let arguments = fields::arguments(fields.take_any("arguments"));
        Some(ToolCall { id: String::new(), tool, arguments, line: 0 })
    };
    let listed = serde_json::from_str::<Vec<&RawValue>>(text.trim());
    let listed = listed.map(|list| list.into_iter().filter_map(|raw| one(raw.get())).collect());
    let read: Vec<ToolCall> = listed.unwrap_or_else(|_| one(text.trim()).into_iter().collect());
    if read.is_empty() {
        let arguments = Arguments::raw(text);
        return vec![ToolCall { id: String::new(), tool: String::new(), arguments, line: 0 }];
    }
    read
}
