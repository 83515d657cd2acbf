use std::borrow::Cow;

use counterfoil_model::{Outcome, ToolCall};
use serde_json::value::RawValue;

use crate::content::{content_of, join, text_member};
use crate::ending;
use crate::fields::{self, Element, Fields};
use crate::session::Session;

/// The content of a message, split by kind of block.
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

const NOT_A_BLOCK: &str = "a content block is not an object";

/// Reads content as it occurs in chat messages: a string, or a list of OpenAI or Anthropic blocks.
/// Other blocks are counted.
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
            match (fields::string(raw), Fields::from_value(raw)) {
                (Some(text), _) => blocks.add_text(text),
                (None, Some(fields)) => blocks.read(fields, line, session),
                (None, None) => session.problem(line, NOT_A_BLOCK),
            }
        }
    } else if let Some(fields) = Fields::from_value(raw) {
        blocks.read(fields, line, session);
    } else if raw.get() != "null" {
        session.problem(line, "the content is neither a string nor a list of blocks");
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
                let call = call(&mut fields, "id", line);
                if matches!(kind.as_ref(), "server_tool_use" | "mcp_tool_use") {
                    session.hosts(&call.tool);
                }
                self.calls.push(call);
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
            "reasoningContent" => session.skip("reasoning attached to a message"),
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
        let id = ["tool_use_id", "toolUseID", "toolUseId", "tool_call_id"]
            .iter()
            .find_map(|name| fields.string(name));
        let call_id = id.unwrap_or_default().into_owned();
        let mut outcome = Outcome { call_id, line, ..Outcome::default() };
        if let Some(raw) = fields.take("content") {
            read_content(raw, &mut outcome, session);
        }
        if let Some(raw) = fields.take("run") {
            read_run(raw, &mut outcome, session);
        }
        ending::read_ending(fields, &mut outcome, session);
        ending::read_rest(fields, &mut outcome, session);
        outcome
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
        arguments: fields::arguments(given),
        line,
    }
}

/// The kind of a Bedrock Converse block, which has no type: the name of its only member.
fn kind_of_untyped(fields: &Fields<'_>) -> &'static str {
    let kinds =
        ["toolUse", "toolResult", "reasoningContent", "cachePoint", "image", "document", "video"];
    kinds.into_iter().find(|kind| fields.has(kind)).unwrap_or("without type")
}

/// Reads a result of Amp: `run` holds a status, and the tool's output or error.
fn read_run(raw: &RawValue, outcome: &mut Outcome, session: &mut Session) {
    let Some(mut run) = Fields::from_value(raw).filter(|run| run.has("status")) else {
        return ending::unread(outcome, "run", session);
    };
    if let Some(raw) = run.take("result") {
        read_content(raw, outcome, session);
    }
    if let Some(reason) = run.string("reason") {
        join(&mut outcome.text, &reason);
    }
    ending::read_ending(&mut run, outcome, session);
    run.pass_over(&["progress", "trackFiles", "~debug"]);
    session.leave(&run);
}

/// Reads a result of Bedrock's Converse: texts and JSON in `content`.
fn read_untyped_result(result: &mut Fields<'_>, line: usize, session: &mut Session) -> Outcome {
    let mut text = String::new();
    for raw in result.array("content").unwrap_or_default() {
        let Some(mut part) = Fields::from_value(raw) else { continue };
        match (part.string("text"), part.take("json")) {
            (Some(part), _) => join(&mut text, &part),
            (None, Some(json)) => join(&mut text, json.get()),
            (None, None) => session.skip("part of a result that is neither text nor JSON"),
        }
    }
    let call_id = result.string("toolUseId").unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, text, line, ..Outcome::default() };
    ending::read_ending(result, &mut outcome, session);
    ending::read_rest(result, &mut outcome, session);
    outcome
}

/// Reads the content of a result. If it has no text but contains a part we could not read, the
/// outcome is marked as unread.
pub(crate) fn read_content(raw: &RawValue, outcome: &mut Outcome, session: &mut Session) {
    let (text, understood) = content_of(raw, session);
    if text.is_empty() && !understood {
        ending::unread(outcome, "content", session);
    }
    join(&mut outcome.text, &text);
}
