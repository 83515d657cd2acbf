//! Anthropic's messages.

use serde_json::Value;

use super::call::ReadCall;
use super::members::{Members, has, list, object, only_text, place, text};
use super::reader::{Parts, Reader, Voice};
use super::unreadable::{Read, Unreadable};
use crate::request::ModelRequest;

/// Kinds of blocks that contain a model's thoughts.
const THOUGHTS: [&str; 3] = ["thinking", "redacted_thinking", "compaction"];

/// The blocks of a message, in order.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    begun: bool,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    /// Whether its first event has content, so that no more may follow.
    full: bool,
    ended: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Call(ReadCall),
    /// Thoughts, and the server's own work.
    Beside,
    Odd,
}

impl Reader for Blocks {
    fn event(&mut self, event: &Value, parts: &mut Parts, request: &ModelRequest) -> Read {
        let members = object(event)?;
        match text(members, "type") {
            "message_start" => {
                parts.around(members, &["message"])?;
                let message = object(members.get("message").unwrap_or(&Value::Null))?;
                if has(message, "content") || std::mem::replace(&mut self.begun, true) {
                    return Err(Unreadable::Place);
                }
                parts.around(message, &["content"])
            }
            "content_block_start" => {
                parts.within(members, &["type", "index", "content_block"])?;
                if place(members, "index")? != Some(self.blocks.len()) {
                    return Err(Unreadable::Place);
                }
                let block = object(members.get("content_block").unwrap_or(&Value::Null))?;
                self.begin(block, parts, request)
            }
            "content_block_delta" => {
                parts.within(members, &["type", "index", "delta"])?;
                let delta = object(members.get("delta").unwrap_or(&Value::Null))?;
                more(self.open(place(members, "index")?)?, delta, parts)
            }
            "content_block_stop" => {
                parts.within(members, &["type", "index"])?;
                self.open(place(members, "index")?)?.ended = true;
                Ok(())
            }
            "message_delta" => {
                parts.around(members, &["delta"])?;
                match members.get("delta") {
                    Some(Value::Object(delta)) => parts.within(delta, &[]),
                    _ => Ok(()),
                }
            }
            _ => parts.odd(event),
        }
    }

    fn whole(&mut self, answer: &Value, parts: &mut Parts, request: &ModelRequest) -> Read {
        let members = object(answer)?;
        parts.around(members, &["content"])?;
        for block in list(members, "content")? {
            self.begin(object(block)?, parts, request)?;
        }
        Ok(())
    }

    fn calls(&self) -> Vec<ReadCall> {
        let call = |block: &Block| match &block.kind {
            Kind::Call(call) => Some(call.clone()),
            _ => None,
        };
        self.blocks.iter().filter_map(call).collect()
    }
}

impl Blocks {
    fn begin(&mut self, block: &Members, parts: &mut Parts, request: &ModelRequest) -> Read {
        let (kind, full) = match text(block, "type") {
            "text" => {
                parts.within(block, &["type", "text"])?;
                parts.say(Voice::Content, only_text(block, "text")?)?;
                (Kind::Text, has(block, "text"))
            }
            "tool_use" => {
                parts.within(block, &["type", "id", "name", "input"])?;
                let mut call = ReadCall::default();
                call.identify(text(block, "id"))?;
                call.call(text(block, "name"))?;
                let full = has(block, "input");
                if full {
                    call.argue(block.get("input").unwrap_or(&Value::Null))?;
                }
                (Kind::Call(call), full)
            }
            kind if THOUGHTS.contains(&kind) => (Kind::Beside, false),
            kind if of_server(kind) && request.server_runs_tools() => (Kind::Beside, false),
            _ => {
                parts.odd(&Value::Object(block.clone()))?;
                (Kind::Odd, false)
            }
        };
        self.blocks.push(Block { kind, full, ended: false });
        Ok(())
    }

    /// The block that began last and has not ended.
    fn open(&mut self, at: Option<usize>) -> Read<&mut Block> {
        let last = self.blocks.len().checked_sub(1);
        let block = self.blocks.last_mut().filter(|block| !block.ended && at == last);
        block.ok_or(Unreadable::Place)
    }
}

/// Whether blocks of this kind belong to tools that the server runs.
fn of_server(kind: &str) -> bool {
    kind.ends_with("_tool_use") || kind.ends_with("_tool_result")
}

fn more(block: &mut Block, delta: &Members, parts: &mut Parts) -> Read {
    match (&mut block.kind, text(delta, "type")) {
        (Kind::Text, "text_delta") => {
            parts.within(delta, &["type", "text"])?;
            let text = only_text(delta, "text")?;
            if block.full && !text.is_empty() {
                return Err(Unreadable::Words);
            }
            parts.say(Voice::Content, text)
        }
        (Kind::Call(call), "input_json_delta") => {
            parts.within(delta, &["type", "partial_json"])?;
            if block.full && has(delta, "partial_json") {
                return Err(Unreadable::Call);
            }
            call.argue(delta.get("partial_json").unwrap_or(&Value::Null))
        }
        (_, "text_delta") => Err(Unreadable::Place),
        (Kind::Beside, _) | (Kind::Text, "citations_delta") => Ok(()),
        _ => parts.odd(&Value::Object(delta.clone())),
    }
}
