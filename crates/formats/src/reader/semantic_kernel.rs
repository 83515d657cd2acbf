use std::borrow::Cow;

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Locator;

/// Chat histories of Semantic Kernel in Python: messages whose `items` have a `content_type`.
pub(crate) struct SemanticKernel;

impl Messages for SemanticKernel {
    fn format(&self) -> Format {
        Format::SemanticKernel
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[].", "[].messages[]."].into_iter().any(|at| {
            sketch.has(&format!("{at}role")) && sketch.has(&format!("{at}items[].content_type"))
        })
    }

    fn read_head(&self, fields: &mut Fields<'_>, _place: &mut Locator<'_>, _: &mut Session) {
        // The first message repeats it.
        fields.pass_over(&["system_message"]);
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let role = match fields.string("role").as_deref() {
            Some("system" | "developer") => Role::System,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            other => {
                let role = other.unwrap_or("(none)");
                session.problem(line, format!("a message has the unknown role `{role}`"));
                return session.skip_part("message with role", role);
            }
        };
        fields.pass_over(&["content_type", "encoding", "finish_reason", "status", "metadata"]);
        if let Some(model) = fields.string("ai_model_id") {
            session.next_model(&model);
        }
        let mut out = Parts::new(Message { line, ..Message::text(role, "") }, session);
        for raw in fields.array("items").unwrap_or_default() {
            read_item(raw, &mut out);
        }
        out.done();
    }
}

fn read_item(raw: &RawValue, out: &mut Parts<'_>) {
    let line = out.line();
    let Some(mut item) = Fields::from_value(raw) else {
        return out.session.problem(line, "an item of a message is not an object");
    };
    let kind = item.string("content_type").unwrap_or(Cow::Borrowed("without type"));
    match kind.as_ref() {
        "text" => out.text(&item.string("text").unwrap_or_default()),
        "reasoning" => out.reasoning(&item.string("text").unwrap_or_default()),
        "function_call" => {
            let id = item.string("id").or_else(|| item.string("call_id")).unwrap_or_default();
            out.call(ToolCall {
                id: id.into_owned(),
                tool: tool(&mut item),
                arguments: fields::arguments(item.take("arguments")),
                line: 0,
            });
        }
        "function_result" => {
            let id = item.string("id").or_else(|| item.string("call_id")).unwrap_or_default();
            let mut outcome = Outcome { call_id: id.into_owned(), ..Outcome::default() };
            tool(&mut item);
            item.pass_over(&["encoding", "ai_model_id", "inner_content"]);
            if let Some(raw) = item.take("result") {
                blocks::read_content(raw, &mut outcome, out.session);
            }
            ending::read_ending(&mut item, &mut outcome, out.session);
            ending::read_rest(&item, &mut outcome, out.session);
            out.outcome(outcome);
        }
        "annotation" | "file_reference" | "streaming_annotation" => {
            return out.session.skip_named("message item", &kind);
        }
        kind => return out.session.skip_part("message item", kind),
    }
    item.pass_over(&["encoding", "ai_model_id", "inner_content", "metadata", "index"]);
    out.session.leave(&item);
}

/// The name of a function as the model calls it, prefixed with its plugin.
fn tool(item: &mut Fields<'_>) -> String {
    let function = item.string("function_name");
    let plugin = item.string("plugin_name");
    if let Some(name) = item.string("name").filter(|name| !name.is_empty()) {
        return name.into_owned();
    }
    let function = function.unwrap_or_default();
    plugin.map_or_else(|| function.to_string(), |plugin| format!("{plugin}-{function}"))
}
