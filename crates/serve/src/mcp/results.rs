//! What of the server's results goes to the client, and what is recorded of them.

use counterfoil_formats::{mended_json, read_lenient};
use counterfoil_guard::HostEnded;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::gateway::{Call, Gateway, gone, member, not_recorded};
use super::members::Members;
use super::message::{self, EXECUTION_ID, Message, code};
use super::tools::Place;

/// Members of results that decide what a client reads.
const RESULT: [&str; 6] =
    ["content", "isError", "structuredContent", "resultType", "_meta", "task"];
const LIST: [&str; 3] = ["tools", "nextCursor", "_meta"];
const GREETING: [&str; 4] = ["instructions", "capabilities", "protocolVersion", "serverInfo"];

/// What is wrong with an answer that the client does not get.
fn unreadable(id: &str, why: &str) -> String {
    let what = format!("the answer of the MCP server cannot be read: {why}");
    message::error(Some(id), code::INTERNAL_ERROR, &what)
}

/// The members of a result, which every reader has to read in the same way.
fn members<'m>(raw: &'m str, known: &[&str]) -> Result<Members<'m>, String> {
    let members: Members<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    match members.lookalike(known) {
        Some(odd) => Err(odd),
        None => Ok(members),
    }
}

impl Gateway {
    /// What the server says of itself; without its instructions where they changed and changes are
    /// held.
    pub(super) fn greeted(&self, message: &Message<'_>, text: &str, id: &str) -> String {
        let Some(raw) = message.members.get("result") else {
            return self.without_secrets(message, text);
        };
        let result = match members(raw.get(), &GREETING) {
            Ok(result) => result,
            Err(why) => return unreadable(id, &why),
        };
        let Ok(said) = read_lenient(raw.get().as_bytes()) else {
            return unreadable(id, "it is not JSON");
        };
        let held = self.shared().offered.greeting(&said, &self.server, self.watch.as_deref());
        match held {
            true => message.members.with("result", &result.without("instructions")),
            false => self.without_forged_ids(message, text),
        }
    }

    /// A list of tools without those of which no call would be let through, and those that are held.
    pub(super) fn listed(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        first: bool,
    ) -> String {
        let Some(raw) = message.members.get("result") else {
            return self.without_secrets(message, text);
        };
        let read = members(raw.get(), &LIST).and_then(|result| {
            let tools = result.get("tools").map_or("[]", RawValue::get);
            let tools: Vec<&RawValue> = serde_json::from_str(tools).map_err(|e| e.to_string())?;
            Ok((result, tools))
        });
        let (result, tools) = match read {
            Ok(read) => read,
            Err(why) => return unreadable(id, &why),
        };
        let next: Option<Value> =
            result.get("nextCursor").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let place = Place { first, last: !next.is_some_and(|next| next.is_string()) };
        let settings = self.guard.admission_settings();
        let watch = self.watch.as_deref();
        let held = self.shared().offered.page(&tools, place, &self.server, settings, watch);
        let never_runs = |tool: &RawValue| {
            let name = member(tool, "name");
            let name = name.as_ref().and_then(Value::as_str);
            name.is_some_and(|name| self.guard.never_runs(name).is_some())
        };
        let offered = tools.iter().enumerate();
        let offered = offered.filter(|(at, tool)| !held.contains(at) && !never_runs(tool));
        let left: Vec<&str> = offered.map(|(_, tool)| tool.get()).collect();
        if left.len() == tools.len() {
            return self.without_forged_ids(message, text);
        }
        let result = result.with("tools", &format!("[{}]", left.join(",")));
        message.members.with("result", &self.cleaned(&result, false).unwrap_or(result))
    }

    /// Records how a call ended, and only then lets its result go.
    pub(super) async fn answered(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        call: Call,
    ) -> String {
        let result = message.members.get("result");
        let ended = match result {
            Some(raw) => ended(raw.get(), call.as_task),
            None => {
                let error = message.members.get("error").map_or("no result", RawValue::get);
                Ok(gone(Status::Failed, ToolErrorCategory::ServerError, error))
            }
        };
        let (ended, unread) = match ended {
            Ok(ended) => (ended, None),
            Err(why) => {
                let told = format!("{why}; what the tool did is unknown");
                let ended = gone(Status::Failed, ToolErrorCategory::ServerError, &told);
                (ended, Some(unreadable(id, &told)))
            }
        };
        if let Err(error) = self.close(&call, ended).await {
            return message::error(Some(id), code::INTERNAL_ERROR, &not_recorded(&error));
        }
        match (unread, result) {
            (Some(unread), _) => unread,
            (None, None) => self.without_secrets(message, text),
            (None, Some(raw)) => {
                let cleaned = self.cleaned(raw.get(), self.redacts);
                let result = cleaned.unwrap_or_else(|| raw.get().to_owned());
                match &call.execution_id {
                    Some(execution_id) => match with_id(&result, execution_id) {
                        Some(result) => message.members.with("result", &result),
                        None => unreadable(id, "it is not an object"),
                    },
                    None => message.members.with("result", &result),
                }
            }
        }
    }
}

/// A result with the id of its execution; `None` where it is no object.
fn with_id(result: &str, execution_id: &str) -> Option<String> {
    let mended;
    let members: Members<'_> = match serde_json::from_str(result) {
        Ok(members) => members,
        // Names may hold half a character, too.
        Err(_) => {
            mended = mended_json(result);
            serde_json::from_str(&mended).ok()?
        }
    };
    let value = Value::from(execution_id).to_string();
    let meta = members.get("_meta").map(RawValue::get);
    let meta = meta.and_then(|meta| serde_json::from_str::<Members<'_>>(meta).ok());
    let meta = match meta {
        Some(meta) => meta.with(EXECUTION_ID, &value),
        // What is no object there says nothing to anybody.
        None => format!("{{{}:{value}}}", Value::from(EXECUTION_ID)),
    };
    Some(members.with("_meta", &meta))
}

/// How a call ended, by its result: what it says as text, or as a whole. Half a character, a number
/// beyond what a double holds and deep nesting cost only themselves.
///
/// # Errors
/// What is wrong with a result that readers would not read in the same way.
fn ended(raw: &str, as_task: bool) -> Result<HostEnded, String> {
    let strict = members(raw, &RESULT);
    let value = match read_lenient(raw.as_bytes()) {
        Ok(value) if value.is_object() => value,
        Ok(_) => return Err("the result is not an object".to_owned()),
        Err(error) => return Err(format!("the result cannot be read: {error}")),
    };
    if let Err(strict) = strict {
        // The mended text has the same members, but for what strict readers refuse in them.
        members(&mended_json(raw), &RESULT).map_err(|_| format!("the result: {strict}"))?;
    }
    if value.get("resultType").is_some_and(|kind| kind == "input_required") {
        return Ok(gone(Status::Cancelled, ToolErrorCategory::Cancelled, ASKED_FOR_MORE));
    }
    // Only what says plainly that it is no error is none.
    let failed = value.get("isError").is_some_and(|says| !says.is_null() && *says != json!(false));
    // It goes on by itself, and this says where to ask for it.
    let goes_on = value.get("content").is_none() && value.pointer("/task/taskId").is_some();
    if goes_on && !as_task {
        return Err("the result is a task, which nobody asked for".to_owned());
    }
    let structured = value.get("structuredContent").filter(|inner| inner.is_object());
    let blocks = value.get("content").and_then(Value::as_array);
    let texts = blocks.map(|blocks| {
        let texts = blocks.iter().map(|block| block.get("text").and_then(Value::as_str));
        texts.collect::<Option<Vec<_>>>().map(|texts| texts.join("\n"))
    });
    let result = match (structured, texts.flatten()) {
        (Some(structured), _) => structured.clone(),
        (None, Some(text)) => Value::String(text),
        // Pictures and links: the whole of it, as it was written.
        (None, None) => Value::String(raw.to_owned()),
    };
    Ok(HostEnded {
        status: match (goes_on, failed) {
            (true, _) => Status::Open,
            (false, true) => Status::Failed,
            (false, false) => Status::Completed,
        },
        category: failed.then_some(ToolErrorCategory::PermanentFailure),
        result,
        exit_code: None,
        truncated: false,
    })
}

/// What is recorded of a call that the server did not make yet.
const ASKED_FOR_MORE: &str =
    "the server asked for more before it makes the call; it is made again with the answer";
