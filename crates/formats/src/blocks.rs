use std::borrow::Cow;

use counterfoil_model::{Arguments, Outcome, ToolCall};
use serde_json::value::RawValue;

use crate::fields::{self, Element, Fields};
use crate::session::Session;

/// The content of a message, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Text blocks, joined by a line break.
    pub(crate) text: String,
    /// Whether there was any text block.
    pub(crate) has_text: bool,
    /// Private reasoning, joined by a line break.
    pub(crate) reasoning: String,
    /// `tool_use` blocks.
    pub(crate) calls: Vec<ToolCall>,
    /// `tool_result` blocks.
    pub(crate) outcomes: Vec<Outcome>,
}

const NOT_A_BLOCK: &str = "a block of the content is not an object";

/// Reads content as it occurs in chat messages: a string, or a list of blocks of the OpenAI and
/// Anthropic kinds. Other blocks are counted.
pub(crate) fn read_blocks(raw: &RawValue, line: usize, session: &mut Session) -> Blocks {
    let mut blocks = Blocks::default();
    if let Some(text) = fields::string(raw) {
        blocks.add_text(text);
    } else if let Some(list) = fields::elements(raw) {
        for element in list {
            match element {
                Element::Object(fields) => blocks.read(fields, line, session),
                Element::Text(text) => blocks.add_text(text),
                Element::Other => session.problem(line, NOT_A_BLOCK),
            }
        }
    } else if let Some(list) = fields::array(raw) {
        for raw in list {
            match (fields::string(raw), Fields::of(raw)) {
                (Some(text), _) => blocks.add_text(text),
                (None, Some(fields)) => blocks.read(fields, line, session),
                (None, None) => session.problem(line, NOT_A_BLOCK),
            }
        }
    } else if let Some(fields) = Fields::of(raw) {
        blocks.read(fields, line, session);
    } else if raw.get() != "null" {
        session.problem(line, "the content is neither text nor a list of blocks");
    }
    blocks
}

impl Blocks {
    fn read(&mut self, mut fields: Fields<'_>, line: usize, session: &mut Session) {
        let kind = fields.string("type").unwrap_or_else(|| Cow::Borrowed(kind_of_untyped(&fields)));
        match kind.as_ref() {
            "text" | "input_text" | "output_text" | "summary_text" | "without type"
                if fields.has("text") =>
            {
                match fields.take("text").map(text_member) {
                    Some(Some(text)) => self.add_text(text),
                    _ => session.problem(line, "a text block has no text"),
                }
            }
            "refusal" => self.add_text(fields.string("refusal").unwrap_or_default()),
            "thinking" | "reasoning" | "reasoning_text" => {
                let text =
                    fields.string("thinking").or_else(|| fields.string("text")).unwrap_or_default();
                join(&mut self.reasoning, &text);
                fields.take("signature");
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" | "tool_call" => {
                self.calls.push(call(&mut fields, "id", line));
            }
            "toolUse" => {
                if let Some(mut inner) = fields.object("toolUse") {
                    self.calls.push(call(&mut inner, "toolUseId", line));
                    session.leave(&inner);
                }
            }
            "toolResult" => {
                if let Some(mut result) = fields.object("toolResult") {
                    let outcome = read_untyped_result(&mut result, line, session);
                    self.outcomes.push(outcome);
                    session.leave(&result);
                }
            }
            "reasoningContent" => session.skip("reasoning beside a message"),
            "cachePoint" => {}
            kind if kind == "tool_result" || kind.ends_with("_tool_result") => {
                let outcome = self.read_result(&mut fields, line, session);
                self.outcomes.push(outcome);
            }
            kind => {
                session.skip_part("content block", kind);
                return;
            }
        }
        session.leave(&fields);
    }

    fn read_result(
        &mut self,
        fields: &mut Fields<'_>,
        line: usize,
        session: &mut Session,
    ) -> Outcome {
        let text = fields.take("content").map(|raw| result_text(raw, session));
        Outcome {
            call_id: fields.string("tool_use_id").unwrap_or_default().into_owned(),
            text: text.unwrap_or_default(),
            is_error: fields.boolean("is_error"),
            line,
            ..Outcome::default()
        }
    }

    fn add_text(&mut self, text: Cow<'_, str>) {
        if self.has_text {
            self.text.push('\n');
            self.text.push_str(&text);
        } else {
            self.text = text.into_owned();
            self.has_text = true;
        }
    }
}

fn call(fields: &mut Fields<'_>, id: &str, line: usize) -> ToolCall {
    let given = ["input", "args", "arguments"].into_iter().find_map(|name| fields.take_any(name));
    ToolCall {
        id: fields.string(id).unwrap_or_default().into_owned(),
        tool: fields.string("name").unwrap_or_default().into_owned(),
        arguments: arguments(given),
        line,
    }
}

/// Blocks of Bedrock's Converse have no type: their only member is what they are.
fn kind_of_untyped(fields: &Fields<'_>) -> &'static str {
    let kinds =
        ["toolUse", "toolResult", "reasoningContent", "cachePoint", "image", "document", "video"];
    kinds.into_iter().find(|kind| fields.has(kind)).unwrap_or("without type")
}

/// A result of Bedrock's Converse: texts and JSON in `content`.
fn read_untyped_result(result: &mut Fields<'_>, line: usize, session: &mut Session) -> Outcome {
    let mut text = String::new();
    for raw in result.array("content").unwrap_or_default() {
        let Some(mut part) = Fields::of(raw) else { continue };
        match (part.string("text"), part.take("json")) {
            (Some(part), _) => join(&mut text, &part),
            (None, Some(json)) => join(&mut text, json.get()),
            (None, None) => session.skip("part of a result that is neither text nor JSON"),
        }
    }
    Outcome {
        call_id: result.string("toolUseId").unwrap_or_default().into_owned(),
        text,
        is_error: result.string("status").map(|status| status == "error"),
        line,
        ..Outcome::default()
    }
}

/// A text member is a string, or an object that holds it as `value`.
fn text_member(raw: &RawValue) -> Option<Cow<'_, str>> {
    fields::string(raw).or_else(|| Fields::of(raw)?.string("value"))
}

/// The text of a result: a string, a list of blocks whose texts are joined by a line break, or any
/// other JSON as it stands.
pub(crate) fn result_text(raw: &RawValue, session: &mut Session) -> String {
    if let Some(text) = fields::string(raw) {
        return text.into_owned();
    }
    let Some(list) = fields::array(raw) else {
        return if raw.get() == "null" { String::new() } else { raw.get().to_owned() };
    };
    let mut text = String::new();
    for part in list {
        if let Some(part) = fields::string(part) {
            join(&mut text, &part);
            continue;
        }
        let mut fields = Fields::of(part);
        let kind = fields.as_mut().and_then(|fields| fields.string("type"));
        let found = fields.as_mut().and_then(|fields| fields.take("text")).and_then(text_member);
        match (found, kind) {
            (Some(found), _) => join(&mut text, &found),
            (None, Some(kind)) => session.skip_named("content block", &kind),
            // A list that is no list of blocks is the result itself.
            (None, None) => return raw.get().to_owned(),
        }
    }
    text
}

/// Adds a part on its own line.
pub(crate) fn join(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

/// Arguments as emitted: the text of a string, the text of any other value, `{}` for none.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Arguments {
    match raw {
        None => Arguments::raw("{}"),
        Some(raw) => match fields::string(raw) {
            Some(text) => Arguments::raw(text),
            None => Arguments::raw(raw.get()),
        },
    }
}
