//! What of a server's results goes to the client, and what is recorded about them.

use counterfoil_formats::{mended_json, read_lenient};
use counterfoil_guard::HostEnded;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call::Call;
use super::failures::{gone, not_recorded};
use super::gateway::Gateway;
use super::joined_words::is_plain_name;
use super::looks::{sentences, statement_in};
use super::members::{Members, member, written};
use super::message::{self, EXECUTION_ID, Message, code};
use super::open_tasks::begun;
use super::pins::{AGREED, GreetingChange};
use super::pins_of_servers::{GREETINGS, joined_instructions};
use super::tools::{Place, unreachable};

/// Members of results that determine how a client reads them.
const RESULT: [&str; 9] = [
    "content",
    "isError",
    "structuredContent",
    "resultType",
    "_meta",
    "task",
    "taskId",
    "inputRequests",
    "requestState",
];
const LIST: [&str; 3] = ["tools", "nextCursor", "_meta"];
const GREETING: [&str; 4] = ["instructions", "capabilities", "protocolVersion", "serverInfo"];

/// Members beside a list that say nothing to a model.
const BESIDE_LISTS: [&str; 3] = ["nextCursor", "cacheScope", "resultType"];

/// Whether a member beside a list stays although changes are held: a number says nothing either. Only
/// the server reads a cursor.
fn stays(name: &str, raw: &RawValue) -> bool {
    let is_number = !raw.get().starts_with(['"', '{', '[']);
    match BESIDE_LISTS.contains(&name) {
        true => name == "nextCursor" || is_plain(raw),
        false => is_number && statement_in(name).is_none(),
    }
}

/// Whether a value is only numbers, names and dates.
fn is_plain(raw: &RawValue) -> bool {
    let plain = |value: &Value| match value {
        Value::String(text) => is_plain_name(text),
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    match serde_json::from_str(raw.get()) {
        Ok(Value::Array(items)) => items.iter().all(plain) && sentences(&json!(items)).is_empty(),
        Ok(value) => plain(&value),
        Err(_) => false,
    }
}

/// Whether a member of a greeting that is agreed on with each client says only that.
fn is_agreed(name: &str, raw: &RawValue) -> bool {
    matches!(name, "instructions" | "capabilities") || is_plain(raw)
}

/// The error in place of an unreadable answer.
pub(super) fn unreadable(id: &str, why: &str) -> String {
    let what = format!("the MCP server's answer cannot be read: {why}");
    message::error(Some(id), code::INTERNAL_ERROR, &what)
}

/// The members of a result; an error if readers could interpret them differently.
pub(super) fn members<'m>(raw: &'m str, known: &[&str]) -> Result<Members<'m>, String> {
    let members: Members<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    match members.lookalike(known) {
        Some(odd) => Err(odd),
        None => Ok(members),
    }
}

impl Gateway {
    /// The server's greeting; without its instructions if they changed and changes are held.
    pub(super) fn greeted(&self, message: &Message<'_>, text: &str, id: &str) -> String {
        let Some(raw) = message.members.get("result") else {
            return self.without_secrets(message, text);
        };
        let result = match members(raw.get(), &GREETING) {
            Ok(result) => result,
            Err(why) => return unreadable(id, &why),
        };
        let Ok(greeting) = read_lenient(raw.get().as_bytes()) else {
            return unreadable(id, "it is not JSON");
        };
        let watch = self.watch.as_deref();
        let changes = self.shared().offered.greeting(&greeting, &self.server, watch);
        let mut agreed = result.0.iter().filter(|(name, _)| AGREED.contains(&name.as_str()));
        let odd = watch.is_some_and(|watch| watch.hold)
            && !agreed.all(|(name, raw)| is_agreed(name, raw));
        let says = |which: fn(&GreetingChange) -> bool| match &changes {
            Ok(changes) => changes.iter().any(which),
            Err(_) => true,
        };
        let others = odd || says(|change| change.instructions.is_none());
        let instructions = says(|change| change.instructions.is_some());
        if !instructions && !others && !self.several {
            return self.without_forged_ids(message, text);
        }
        let mut left = match others {
            true => self.plain_greeting(&result, &greeting),
            false => raw.get().to_owned(),
        };
        if instructions && let Ok(members) = serde_json::from_str::<Members<'_>>(&left) {
            // A server alone says nothing in the name of others.
            let changes = changes.ok().filter(|_| self.several);
            left = match changes.and_then(|changes| unchanged_instructions(&greeting, &changes)) {
                Some(text) => members.with("instructions", &Value::from(text).to_string()),
                None => members.without("instructions"),
            };
        }
        if self.several {
            left = without_greetings(&left);
        }
        message.members.with("result", &self.cleaned(&left, false).unwrap_or(left))
    }

    /// A greeting without texts of the server, but for its instructions.
    fn plain_greeting(&self, result: &Members<'_>, greeting: &Value) -> String {
        let mut able = greeting.get("capabilities").cloned().unwrap_or_default();
        if let Some(able) = able.as_object_mut() {
            able.retain(|name, what| {
                let says = statement_in(name).is_some() || !sentences(what).is_empty();
                name != "experimental" && !says
            });
        }
        let (able, who) = (able.to_string(), json!({ "name": &*self.server, "version": "held" }));
        let who = who.to_string();
        let left = result.0.iter().filter_map(|(name, raw)| match name.as_str() {
            "capabilities" => Some((name.as_str(), able.as_str())),
            "serverInfo" => Some((name.as_str(), who.as_str())),
            known => {
                let stays = AGREED.contains(&known) && is_agreed(known, raw);
                stays.then(|| (known, raw.get()))
            }
        });
        written(left)
    }

    /// A list with these entries. If changes are held, nothing beside the entries passes but what
    /// says how to go on, because it is not pinned.
    pub(super) fn list_of(&self, result: &Members<'_>, member: &str, entries: &[&str]) -> String {
        let entries = format!("[{}]", entries.join(","));
        let hold = self.watch.as_deref().is_some_and(|watch| watch.hold);
        let left = result.0.iter().filter_map(|(name, raw)| match name.as_str() {
            name if name == member => Some((name, entries.as_str())),
            name => (!hold || stays(name, raw)).then(|| (name, raw.get())),
        });
        written(left)
    }

    /// Whether a list has members that are held.
    pub(super) fn says_more(&self, result: &Members<'_>, member: &str) -> bool {
        let hold = self.watch.as_deref().is_some_and(|watch| watch.hold);
        hold && !result.0.iter().all(|(name, raw)| name == member || stays(name, raw))
    }

    /// A list of tools without those that may never run and those that are held.
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
        let held = {
            let offered = &mut self.shared().offered;
            let held = offered.page(&tools, place, &self.server, settings, watch);
            if self.several {
                let meta = result.get("_meta").map(RawValue::get);
                let meta = meta.and_then(|meta| serde_json::from_str(meta).ok());
                offered.away = unreachable(meta.as_ref());
            }
            offered.report_idle_rules(&self.guard);
            held
        };
        let never_runs = |tool: &RawValue| {
            let name = member(tool, "name");
            let name = name.as_ref().and_then(Value::as_str);
            name.is_some_and(|name| self.guard.never_runs(name).is_some())
        };
        let offered = tools.iter().enumerate();
        let offered = offered.filter(|(at, tool)| !held.contains(at) && !never_runs(tool));
        let left: Vec<&str> = offered.map(|(_, tool)| tool.get()).collect();
        if left.len() == tools.len() && !self.says_more(&result, "tools") {
            return self.without_forged_ids(message, text);
        }
        let result = self.list_of(&result, "tools", &left);
        message.members.with("result", &self.cleaned(&result, false).unwrap_or(result))
    }

    /// Records how a call ended, and only then returns its result.
    pub(super) async fn answered(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        call: Call,
    ) -> String {
        let result = message.members.get("result");
        let meaning = match result {
            Some(raw) => meaning_of(raw.get()),
            None => {
                let error = message.members.get("error").map_or("no result", RawValue::get);
                Ok(ResultMeaning::Ended(gone(
                    Status::Failed,
                    ToolErrorCategory::ServerError,
                    error,
                )))
            }
        };
        let ended = match (meaning, result) {
            (Ok(ResultMeaning::Task(task)), Some(raw)) if self.may_begin(&task, &call) => {
                let passed = self.passed(message, raw, id, (call.execution_id.as_deref(), None));
                self.goes_on(task, call).await;
                return passed;
            }
            (Ok(ResultMeaning::Task(_)), _) => {
                Err("the result is a task that the client did not ask for".to_owned())
            }
            (Ok(ResultMeaning::Ended(ended)), _) => Ok(ended),
            (Err(why), _) => Err(why),
        };
        let (ended, unread) = match ended {
            Ok(ended) => (ended, None),
            Err(why) => {
                let reason = format!("{why}; it is unknown what the tool did");
                let ended = gone(Status::Failed, ToolErrorCategory::ServerError, &reason);
                (ended, Some(unreadable(id, &reason)))
            }
        };
        let note = match self.close(&call, ended).await {
            Ok(note) => note,
            Err(error) => {
                return message::error(Some(id), code::INTERNAL_ERROR, &not_recorded(&error));
            }
        };
        match (unread, result) {
            (Some(unread), _) => unread,
            (None, None) => self.without_secrets(message, text),
            (None, Some(raw)) => {
                self.passed(message, raw, id, (call.execution_id.as_deref(), note.as_deref()))
            }
        }
    }

    /// Whether a call may continue as this task: its client accepts tasks, and no other call has
    /// this task id.
    fn may_begin(&self, task: &str, call: &Call) -> bool {
        call.as_task && !self.shared().tasks.knows(task)
    }

    /// The result of a call for the client, with its execution id, and with any note for the model
    /// as an additional text block.
    fn passed(
        &self,
        message: &Message<'_>,
        raw: &RawValue,
        id: &str,
        (execution_id, note): (Option<&str>, Option<&str>),
    ) -> String {
        let result = self.cleaned(raw.get(), self.redacts);
        let result = result.unwrap_or_else(|| raw.get().to_owned());
        match execution_id.map(|execution_id| with_id(&result, execution_id)) {
            None => self.cleaned_with(message, "result", &result),
            Some(Some(result)) => {
                let result = note.and_then(|note| with_note(&result, note)).unwrap_or(result);
                self.cleaned_with(message, "result", &result)
            }
            Some(None) => unreadable(id, "it is not an object"),
        }
    }
}

/// Of several servers, the instructions of those that have not changed theirs.
fn unchanged_instructions(greeting: &Value, changes: &[GreetingChange]) -> Option<String> {
    let greetings = greeting.get("_meta")?.get(GREETINGS)?.as_object()?;
    joined_instructions(greetings, |name| {
        let is_it = |change: &GreetingChange| change.server.as_deref() == Some(name);
        !changes.iter().any(|change| change.instructions.is_some() && is_it(change))
    })
}

/// The greeting of several servers without what is only for the gateway.
fn without_greetings(greeting: &str) -> String {
    let read = |text| serde_json::from_str::<Members<'_>>(text).ok();
    let Some(members) = read(greeting) else { return greeting.to_owned() };
    let Some(meta) = members.get("_meta").and_then(|meta| read(meta.get())) else {
        return greeting.to_owned();
    };
    match meta.0.iter().all(|(name, _)| name == GREETINGS) {
        true => members.without("_meta"),
        false => members.with("_meta", &meta.without(GREETINGS)),
    }
}

/// A result with its execution id; `None` if it is not an object.
pub(super) fn with_id(result: &str, execution_id: &str) -> Option<String> {
    let mended;
    let members: Members<'_> = match serde_json::from_str(result) {
        Ok(members) => members,
        // Names may also contain unpaired surrogates.
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
        // A `_meta` that is not an object has no meaning.
        None => format!("{{{}:{value}}}", Value::from(EXECUTION_ID)),
    };
    Some(members.with("_meta", &meta))
}

/// A result with an additional text block; `None` if its content is not a list.
pub(super) fn with_note(result: &str, note: &str) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(result).ok()?;
    let block = json!({ "type": "text", "text": note }).to_string();
    let blocks = members.get("content").map_or("[]", RawValue::get);
    let blocks = blocks.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    let gap = if blocks.trim().is_empty() { "" } else { "," };
    Some(members.with("content", &format!("[{blocks}{gap}{block}]")))
}

/// The meaning of a call's result.
pub(super) enum ResultMeaning {
    Ended(HostEnded),
    /// It continues as the task with this id.
    Task(String),
}

/// How a call ended, according to its result. Unpaired surrogates, numbers outside the range of a
/// double, and deep nesting are tolerated.
///
/// # Errors
/// When the result is invalid, or readers could interpret it differently.
pub(super) fn meaning_of(raw: &str) -> Result<ResultMeaning, String> {
    let strict = members(raw, &RESULT);
    let value = match read_lenient(raw.as_bytes()) {
        Ok(value) if value.is_object() => value,
        Ok(_) => return Err("the result is not an object".to_owned()),
        Err(error) => return Err(format!("the result cannot be read: {error}")),
    };
    if let Err(strict) = strict {
        // The mended text has the same members, except for what strict readers reject in them.
        members(&mended_json(raw), &RESULT).map_err(|_| format!("the result: {strict}"))?;
    }
    if let Some(task) = begun(&value) {
        return Ok(ResultMeaning::Task(task.to_owned()));
    }
    match value.get("resultType").map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => {
            let ended = gone(Status::Cancelled, ToolErrorCategory::Cancelled, NEEDS_INPUT);
            return Ok(ResultMeaning::Ended(ended));
        }
        Some(_) => return Err("the result has an unknown `resultType`".to_owned()),
    }
    // Only an explicit absence of an error counts as success.
    let failed = value.get("isError").is_some_and(|says| !says.is_null() && *says != json!(false));
    Ok(ResultMeaning::Ended(HostEnded {
        status: if failed { Status::Failed } else { Status::Completed },
        category: failed.then_some(ToolErrorCategory::PermanentFailure),
        result: content_of(&value, raw)?,
        exit_code: None,
        truncated: false,
    }))
}

/// The content of a result: an object, a text, or the whole result verbatim.
///
/// # Errors
/// When the result has no content.
fn content_of(value: &Value, raw: &str) -> Result<Value, String> {
    if let Some(structured) = value.get("structuredContent").filter(|inner| inner.is_object()) {
        return Ok(structured.clone());
    }
    let Some(blocks) = value.get("content").and_then(Value::as_array) else {
        let what = "the result has neither a `content` list nor `structuredContent`";
        return Err(what.to_owned());
    };
    let texts = blocks.iter().map(|block| block.get("text").and_then(Value::as_str));
    let texts = texts.collect::<Option<Vec<_>>>().map(|texts| texts.join("\n"));
    // Images and links: use the whole result.
    Ok(Value::String(texts.unwrap_or_else(|| raw.to_owned())))
}

/// What is recorded for a call that the server interrupts with a question.
const NEEDS_INPUT: &str = "the server asked for more input, and the call is repeated with the \
                              answer; what it has done already is unknown";
