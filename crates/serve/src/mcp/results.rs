//! What of the server's results goes to the client, and what is recorded of them.

use counterfoil_guard::HostEnded;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::gateway::{Call, Gateway, gone, member, not_recorded};
use super::members::Members;
use super::message::{self, EXECUTION_ID, Message, code};

impl Gateway {
    /// A list of tools without those of which no call would be let through; `None` where there are
    /// none of them.
    pub(super) fn offered(&self, message: &Message<'_>) -> Option<String> {
        let result: Members<'_> =
            serde_json::from_str(message.members.get("result")?.get()).ok()?;
        let tools: Vec<&RawValue> = serde_json::from_str(result.get("tools")?.get()).ok()?;
        let runs = |tool: &&RawValue| {
            let name = member(tool, "name");
            let never =
                name.as_ref().and_then(Value::as_str).and_then(|n| self.guard.never_runs(n));
            never.is_none()
        };
        let left: Vec<&str> = tools.iter().copied().filter(runs).map(RawValue::get).collect();
        if left.len() == tools.len() {
            return None;
        }
        let result = result.with("tools", &format!("[{}]", left.join(",")));
        Some(message.members.with("result", &result))
    }

    /// Records how a call ended, and only then lets its result go.
    pub(super) async fn answered(
        &self,
        message: &Message<'_>,
        text: String,
        id: &str,
        call: Call,
    ) -> String {
        let result = message.members.get("result");
        let ended = match result {
            Some(raw) => ended(raw),
            None => {
                let error = message.members.get("error").map_or("no result", RawValue::get);
                gone(Status::Failed, ToolErrorCategory::ServerError, error)
            }
        };
        if let Err(error) = self.close(&call, ended).await {
            return message::error(Some(id), code::INTERNAL_ERROR, &not_recorded(&error));
        }
        let (Some(raw), Some(execution_id)) = (result, &call.execution_id) else { return text };
        let redacted = if self.redacts { self.redacted(raw) } else { None };
        let raw = redacted.as_deref().unwrap_or(raw.get());
        let Ok(members) = serde_json::from_str::<Members<'_>>(raw) else { return text };
        let value = Value::from(execution_id.as_str()).to_string();
        let meta = match members.get("_meta").map(RawValue::get) {
            None => format!("{{{}:{value}}}", Value::from(EXECUTION_ID)),
            Some(meta) => match serde_json::from_str::<Members<'_>>(meta) {
                Ok(meta) => meta.with(EXECUTION_ID, &value),
                Err(_) => return text,
            },
        };
        message.members.with("result", &members.with("_meta", &meta))
    }

    /// A result without secrets in its texts; `None` where there are none.
    fn redacted(&self, raw: &RawValue) -> Option<String> {
        let redactor = self.guard.redactor();
        let structured = |value: &mut Value| *value = redactor.redact_value(value);
        let blocks = |value: &mut Value| {
            for block in value.as_array_mut().into_iter().flatten() {
                // Not the data of pictures: that is no text.
                for at in ["/text", "/resource/text", "/uri", "/resource/uri"] {
                    let Some(Value::String(said)) = block.pointer_mut(at) else { continue };
                    *said = redactor.redact(said).into_owned();
                }
            }
        };
        let text = changed(raw.get(), "structuredContent", structured);
        let both = changed(text.as_deref().unwrap_or(raw.get()), "content", blocks);
        both.or(text)
    }
}

/// An object with one member changed; `None` where it stays the same.
fn changed(text: &str, name: &str, change: impl Fn(&mut Value)) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    let before: Value = serde_json::from_str(members.get(name)?.get()).ok()?;
    let mut after = before.clone();
    change(&mut after);
    (after != before).then(|| members.with(name, &after.to_string()))
}

/// How a call ended, by its result: what it says as text, or as a whole.
fn ended(raw: &RawValue) -> HostEnded {
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    if value.get("resultType").is_some_and(|kind| kind == "input_required") {
        return gone(Status::Cancelled, ToolErrorCategory::Cancelled, ASKED_FOR_MORE);
    }
    let failed = value.get("isError") == Some(&json!(true));
    // It goes on by itself, and this says where to ask for it.
    let goes_on = value.get("content").is_none() && value.pointer("/task/taskId").is_some();
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
        (None, None) => Value::String(raw.get().to_owned()),
    };
    HostEnded {
        status: match (goes_on, failed) {
            (true, _) => Status::Open,
            (false, true) => Status::Failed,
            (false, false) => Status::Completed,
        },
        category: failed.then_some(ToolErrorCategory::PermanentFailure),
        result,
        exit_code: None,
        truncated: false,
    }
}

/// What is recorded of a call that the server did not make yet.
const ASKED_FOR_MORE: &str =
    "the server asked for more before it makes the call; it is made again with the answer";
