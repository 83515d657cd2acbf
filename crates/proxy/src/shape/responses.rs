//! OpenAI's responses API, which says everything more than once: piece by piece, at the end of a
//! part, at the end of its item, and at the end of the response. All of them must agree.

use serde_json::Value;

use super::call::ReadCall;
use super::members::{Members, has, list, object, only_text, place, text};
use super::native::{self, Streamed};
use super::reader::{Parts, Reader, Voice};
use super::unreadable::{Read, Unreadable};
use crate::request::ModelRequest;
use crate::wire::CALLS;

/// Prefixes of events about thoughts, sources and the server's own work.
const BESIDE: [&str; 10] = [
    "response.reasoning",
    "response.output_text.annotation",
    "response.web_search_call",
    "response.file_search_call",
    "response.code_interpreter_call",
    "response.image_generation_call",
    "response.mcp_",
    "response.audio.delta",
    "response.audio.done",
    "keepalive",
];

/// Kinds of items that do not contain the agent's words.
const THOUGHTS: [&str; 2] = ["reasoning", "compaction"];

/// The items of a response, in order.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

#[derive(Debug)]
struct Item {
    id: String,
    kind: String,
    content: Vec<Part>,
    call: ReadCall,
    /// Its final form.
    whole: Option<Members>,
    /// Whether its first event has arguments, so that no more may follow.
    full: bool,
    /// The parts of a native call, as far as they were received piece by piece.
    streamed: Streamed,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    voice: Voice,
    text: String,
}

impl Reader for Items {
    fn event(&mut self, event: &Value, parts: &mut Parts, request: &ModelRequest) -> Read {
        let members = object(event)?;
        let kind = text(members, "type");
        match kind {
            "response.output_item.added" => self.added(members, parts, request),
            "response.output_item.done" => self.done(members, parts, request),
            "response.content_part.added" => self.part_added(members, parts),
            "response.content_part.done" => self.part_done(members, parts),
            "response.output_text.delta" => self.words(members, (Voice::Content, "delta"), parts),
            "response.refusal.delta" => self.words(members, (Voice::Refusal, "delta"), parts),
            "response.output_text.done" => self.words_done(members, (Voice::Content, "text")),
            "response.refusal.done" => self.words_done(members, (Voice::Refusal, "refusal")),
            "response.function_call_arguments.delta" => self.argues(members, "function_call"),
            "response.custom_tool_call_input.delta" => self.argues(members, "custom_tool_call"),
            "response.function_call_arguments.done" => self.argued(members, "arguments"),
            "response.custom_tool_call_input.done" => self.argued(members, "input"),
            "response.completed" | "response.incomplete" => self.ended(members, parts, request),
            "response.created" | "response.in_progress" | "response.queued" => {
                parts.around(members, &["response"])?;
                let response = object(members.get("response").unwrap_or(&Value::Null))?;
                around_response(response, parts)?;
                if has(response, "output") { Err(Unreadable::Place) } else { Ok(()) }
            }
            kind if native::streams(kind) => {
                let item = self.item(members)?;
                item.streamed.add(&item.kind, members, parts)
            }
            kind if BESIDE.iter().any(|begin| kind.starts_with(begin)) => Ok(()),
            _ => parts.odd(event),
        }
    }

    fn whole(&mut self, answer: &Value, parts: &mut Parts, request: &ModelRequest) -> Read {
        let members = object(answer)?;
        around_response(members, parts)?;
        for item in list(members, "output")? {
            let item = object(item)?;
            self.0.push(read_item(item, parts, request)?);
        }
        for Item { content, .. } in &self.0 {
            content.iter().try_for_each(|part| parts.say(part.voice, &part.text))?;
        }
        // Some servers join the texts, as their client libraries do.
        match only_text(members, "output_text")? {
            text if text.is_empty() || *text == parts.text => Ok(()),
            _ => Err(Unreadable::Words),
        }
    }

    fn calls(&self) -> Vec<ReadCall> {
        let own = |item: &&Item| item.kind == "function_call";
        self.0.iter().filter(own).map(|item| item.call.clone()).collect()
    }
}

/// Counts the members around the items of a response.
fn around_response(response: &Members, parts: &mut Parts) -> Read {
    parts.around(response, &["output", "output_text", "text"])?;
    match response.get("text") {
        Some(Value::Object(settings)) => parts.around(settings, &[]),
        Some(text) => parts.odd(text),
        None => Ok(()),
    }
}

/// Reads an item that is not streamed.
fn read_item(item: &Members, parts: &mut Parts, request: &ModelRequest) -> Read<Item> {
    // Some servers omit the type of an item.
    let kind = match text(item, "type") {
        "" if item.contains_key("content") => "message",
        kind => kind,
    };
    let mut read = Item {
        id: text(item, "id").to_owned(),
        kind: kind.to_owned(),
        content: Vec::new(),
        call: ReadCall::default(),
        whole: None,
        full: false,
        streamed: Streamed::default(),
    };
    match kind {
        "message" => {
            parts.within(item, &["content"])?;
            for part in list(item, "content")? {
                read.content.extend(read_part(object(part)?, parts)?);
            }
        }
        "function_call" | "custom_tool_call" => {
            let name = if kind == "function_call" { "arguments" } else { "input" };
            parts.within(item, &["call_id", "name", name, "namespace"])?;
            read.call.plain = kind == "custom_tool_call";
            read.call.identify(text(item, "call_id"))?;
            read.call.call(text(item, "name"))?;
            read.call.argue(item.get(name).unwrap_or(&Value::Null))?;
            read.full = has(item, name);
        }
        kind if CALLS.contains(&kind) => native::read(item, parts)?,
        kind if THOUGHTS.contains(&kind) => {}
        // It asks the client to approve a call of a tool that is unknown here.
        "mcp_approval_request" => return Err(Unreadable::LooseCall),
        kind if of_server(kind) && request.server_runs_tools() => {}
        _ => parts.odd(&Value::Object(item.clone()))?,
    }
    Ok(read)
}

/// Whether items of this kind belong to tools that the server runs.
fn of_server(kind: &str) -> bool {
    kind.ends_with("_call") || kind.ends_with("_call_output") || kind.starts_with("mcp_")
}

/// Reads a part of a message; `None` if its kind has no words.
fn read_part(part: &Members, parts: &mut Parts) -> Read<Option<Part>> {
    let (voice, name) = match text(part, "type") {
        "output_text" => (Voice::Content, "text"),
        "refusal" => (Voice::Refusal, "refusal"),
        _ => return parts.odd(&Value::Object(part.clone())).map(|()| None),
    };
    parts.within(part, &["type", name])?;
    Ok(Some(Part { voice, text: only_text(part, name)?.to_owned() }))
}

impl Items {
    /// The item that an event belongs to. It must not have ended.
    fn item(&mut self, event: &Members) -> Read<&mut Item> {
        let at = place(event, "output_index")?.ok_or(Unreadable::Place)?;
        let item = self.0.get_mut(at).filter(|item| item.whole.is_none());
        let item = item.ok_or(Unreadable::Place)?;
        let id = text(event, "item_id");
        let same = id.is_empty() || item.id.is_empty() || id == item.id;
        if same { Ok(item) } else { Err(Unreadable::Place) }
    }

    fn added(&mut self, event: &Members, parts: &mut Parts, request: &ModelRequest) -> Read {
        parts.around(event, &["item", "output_index"])?;
        if place(event, "output_index")? != Some(self.0.len()) {
            return Err(Unreadable::Place);
        }
        let item = read_item(object(event.get("item").unwrap_or(&Value::Null))?, parts, request)?;
        if item.content.iter().any(|part| !part.text.is_empty()) {
            return Err(Unreadable::Words);
        }
        self.0.push(Item { content: Vec::new(), ..item });
        Ok(())
    }

    fn done(&mut self, event: &Members, parts: &mut Parts, request: &ModelRequest) -> Read {
        parts.around(event, &["item", "output_index"])?;
        let members = object(event.get("item").unwrap_or(&Value::Null))?;
        let ended = read_item(members, parts, request)?;
        // Some servers send only the final form of an item.
        if place(event, "output_index")? == Some(self.0.len()) && ended.content.is_empty() {
            self.0.push(Item { whole: Some(members.clone()), ..ended });
            return Ok(());
        }
        let item = self.item(event)?;
        let same = item.kind == ended.kind && item.id == ended.id && item.content == ended.content;
        if !same || !item.call.ends_as(&ended.call) || !item.streamed.ends_as(members) {
            return Err(Unreadable::Repeated);
        }
        (item.call, item.whole) = (ended.call, Some(members.clone()));
        Ok(())
    }

    fn part_added(&mut self, event: &Members, parts: &mut Parts) -> Read {
        parts.within(event, &["part", "content_index", "output_index", "item_id"])?;
        let members = object(event.get("part").unwrap_or(&Value::Null))?;
        let item = self.item(event)?;
        if item.kind != "message" {
            // Thoughts have parts, too.
            return if item.kind == "reasoning" { Ok(()) } else { Err(Unreadable::Place) };
        }
        let Some(part) = read_part(members, parts)? else { return Ok(()) };
        if !part.text.is_empty() || place(event, "content_index")? != Some(item.content.len()) {
            return Err(Unreadable::Place);
        }
        item.content.push(part);
        Ok(())
    }

    fn part_done(&mut self, event: &Members, parts: &mut Parts) -> Read {
        parts.within(event, &["part", "content_index", "output_index", "item_id"])?;
        let members = object(event.get("part").unwrap_or(&Value::Null))?;
        let item = self.item(event)?;
        if item.kind != "message" {
            return if item.kind == "reasoning" { Ok(()) } else { Err(Unreadable::Place) };
        }
        let Some(part) = read_part(members, parts)? else { return Ok(()) };
        let known = place(event, "content_index")?.and_then(|at| item.content.get(at));
        if known == Some(&part) { Ok(()) } else { Err(Unreadable::Repeated) }
    }

    fn words(&mut self, event: &Members, (voice, name): (Voice, &str), parts: &mut Parts) -> Read {
        parts.within(event, &[name, "content_index", "output_index", "item_id"])?;
        let more = only_text(event, name)?;
        let at = place(event, "content_index")?.unwrap_or(0);
        let item = self.item(event)?;
        if item.kind != "message" {
            return Err(Unreadable::Place);
        }
        // Some servers do not announce the start of a part.
        if at == item.content.len() {
            item.content.push(Part { voice, text: String::new() });
        }
        let last = item.content.len() == at + 1;
        let part = item.content.get_mut(at).filter(|part| last && part.voice == voice);
        part.ok_or(Unreadable::Place)?.text.push_str(more);
        parts.say(voice, more)
    }

    fn words_done(&mut self, event: &Members, (voice, name): (Voice, &str)) -> Read {
        let whole = Part { voice, text: only_text(event, name)?.to_owned() };
        let at = place(event, "content_index")?.unwrap_or(0);
        if self.item(event)?.content.get(at) == Some(&whole) {
            return Ok(());
        }
        Err(Unreadable::Repeated)
    }

    fn argues(&mut self, event: &Members, kind: &str) -> Read {
        let item = self.item(event)?;
        if item.kind != kind || item.full {
            return Err(Unreadable::Call);
        }
        item.call.argue(event.get("delta").unwrap_or(&Value::Null))
    }

    fn argued(&mut self, event: &Members, name: &str) -> Read {
        let whole = only_text(event, name)?;
        let item = self.item(event)?;
        if !CALLS.contains(&item.kind.as_str()) {
            return Err(Unreadable::Call);
        }
        if !item.call.has_arguments() {
            item.full = true;
            item.call.argue(&Value::from(whole))?;
        }
        item.call.call(text(event, "name"))?;
        if item.call.argues(whole) { Ok(()) } else { Err(Unreadable::Repeated) }
    }

    fn ended(&mut self, event: &Members, parts: &mut Parts, request: &ModelRequest) -> Read {
        parts.around(event, &["response"])?;
        let response = object(event.get("response").unwrap_or(&Value::Null))?;
        around_response(response, parts)?;
        let text = only_text(response, "output_text")?;
        if !text.is_empty() && text != parts.text {
            return Err(Unreadable::Words);
        }
        let output = list(response, "output")?;
        // Some servers do not repeat everything.
        if output.is_empty() {
            return Ok(());
        }
        if output.len() != self.0.len() {
            return Err(Unreadable::Repeated);
        }
        for (item, again) in self.0.iter().zip(output) {
            let members = object(again)?;
            let again = read_item(members, parts, request)?;
            let same =
                item.kind == again.kind && item.id == again.id && item.content == again.content;
            if !same || item.call != again.call || !is_same_rest(item, members) {
                return Err(Unreadable::Repeated);
            }
        }
        Ok(())
    }
}

/// Whether a call of another kind is the same at the end as it was before.
fn is_same_rest(item: &Item, again: &Members) -> bool {
    let Some(whole) = item.whole.as_ref().filter(|_| CALLS.contains(&item.kind.as_str())) else {
        return true;
    };
    let bare = |members: &Members| {
        let mut members = members.clone();
        members.remove("status");
        members
    };
    bare(whole) == bare(again)
}
