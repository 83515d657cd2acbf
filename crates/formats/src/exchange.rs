//! Logs of requests and responses, as kept by gateways, batches and tracers. The conversation is in
//! one member, the model's response in another; both are joined into one conversation.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::fields::{self, Fields};
use crate::sketch::Sketch;

/// Members that may hold the request or the whole conversation.
const REQUESTS: [&str; 12] = [
    "request",
    "request_body",
    "requestBody",
    "body",
    "input",
    "inputs",
    "kwargs",
    "traj",
    "trajectory",
    "conversation",
    "transcript",
    "chat_history",
];

/// Members that may hold the response.
const RESPONSES: [&str; 7] =
    ["response", "response_body", "responseBody", "output", "outputs", "result", "completion"];

/// Members in which loggers put the tools if the request does not have them.
const PARAMETERS: [&str; 4] =
    ["model_parameters", "modelParameters", "optional_params", "invocation_params"];

/// Members that may hold the id of the conversation.
const NAMES: [&str; 6] = ["id", "custom_id", "request_id", "requestId", "trace_id", "traceId"];

/// How deeply a response may be wrapped.
const DEPTH: usize = 4;

/// Whether a document begins with a request that contains a list of messages at any known path.
pub(crate) fn recognises(sketch: &Sketch) -> bool {
    REQUESTS.iter().any(|request| {
        ["", "[]."].iter().any(|at| {
            sketch.has(&format!("{at}{request}.messages[].role"))
                || sketch.has(&format!("{at}{request}[].role"))
        })
    })
}

/// The conversation of the first exchange of a list, or of the one that the text is.
pub(crate) fn first(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('[') {
        return composed(text);
    }
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    composed(fields::array(raw)?.first()?.get())
}

/// The conversation of an exchange as one object with `messages`; `None` for anything else.
pub(crate) fn composed(text: &str) -> Option<String> {
    let text = text.trim_start();
    // The first member of a message is mostly its role.
    if text.strip_prefix('{')?.trim_start().starts_with("\"role\"") {
        return None;
    }
    let mut fields = Fields::parse(text).ok()?;
    let parts =
        fields.has("messages") || has_any(&fields, &REQUESTS) || has_any(&fields, &RESPONSES);
    if fields.has("role") || fields.has("choices") || !parts {
        return None;
    }
    let name = NAMES.iter().find_map(|name| fields.string(name)).filter(|name| !name.is_empty());
    // Messages without a response next to them are already a conversation.
    let own = fields.has("messages").then(|| conversation_of(&mut fields));
    let (mut answered_by, mut unread) = (None, None);
    let answered = RESPONSES.iter().find_map(|name| {
        let raw = fields.take(name)?;
        answered_by = model_of(raw, DEPTH);
        unread = unread.or(Some((name, raw)));
        answer(raw, DEPTH)
    });
    let request = match own {
        Some(own) if answered.is_some() => own,
        Some(_) => return None,
        None => None,
    };
    let request =
        request.or_else(|| REQUESTS.iter().find_map(|name| conversation(fields.take(name)?)));
    if request.is_none() && answered.is_none() {
        return None;
    }
    let Conversation { mut messages, mut tools, model } = request.unwrap_or_default();
    let model = fields.string("model").map(Cow::into_owned).or(answered_by).or(model);
    if tools.is_none() {
        tools = PARAMETERS.iter().find_map(|name| {
            let tools = fields.object(name)?.take("tools")?;
            Some(tools.get().to_owned())
        });
    }
    let unread = unread.filter(|_| answered.is_none());
    messages.extend(answered);
    let mut whole = String::from("{");
    // No reader takes this member, so it is reported.
    if let Some((name, raw)) = unread {
        whole.push_str(&format!("\"{name}\":{},", raw.get()));
    }
    if let Some(name) = name {
        whole.push_str(&format!("\"id\":{},", serde_json::Value::from(name.as_ref())));
    }
    if let Some(model) = model {
        whole.push_str(&format!("\"model\":{},", serde_json::Value::from(model)));
    }
    if let Some(tools) = tools {
        whole.push_str(&format!("\"tools\":{tools},"));
    }
    whole.push_str(&format!("\"messages\":[{}]}}", messages.join(",")));
    Some(whole)
}

#[derive(Default)]
struct Conversation {
    /// The messages, as JSON.
    messages: Vec<String>,
    /// The list of tools, as JSON.
    tools: Option<String>,
    /// The requested model.
    model: Option<String>,
}

fn has_any(fields: &Fields<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| fields.has(name))
}

/// A request, or its list of messages; either may be JSON in a string.
fn conversation(raw: &RawValue) -> Option<Conversation> {
    let text = decoded(raw);
    if let Ok(mut fields) = Fields::parse(&text) {
        return conversation_of(&mut fields);
    }
    let raw: &RawValue = serde_json::from_str(&text).ok()?;
    let messages = messages(raw)?;
    Some(Conversation { messages, tools: None, model: None })
}

fn conversation_of(fields: &mut Fields<'_>) -> Option<Conversation> {
    let mut messages = messages(fields.take("messages")?)?;
    // The Anthropic API puts the instructions next to the messages.
    if let Some(system) = fields.take("system") {
        messages.insert(0, format!("{{\"role\":\"system\",\"content\":{}}}", system.get()));
    }
    let tools = fields.take("tools").map(|raw| raw.get().to_owned());
    let model = fields.string("model").map(Cow::into_owned);
    Some(Conversation { messages, tools, model })
}

fn messages(raw: &RawValue) -> Option<Vec<String>> {
    let list = fields::array(raw)?;
    let has_role =
        |raw: &&RawValue| Fields::from_value(raw).is_some_and(|fields| fields.has("role"));
    let all = !list.is_empty() && list.iter().all(has_role);
    all.then(|| list.into_iter().map(|raw| raw.get().to_owned()).collect())
}

/// The message of a response, however it is wrapped.
fn answer(raw: &RawValue, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let text = decoded(raw);
    let Ok(mut fields) = Fields::parse(&text) else {
        let raw: &RawValue = serde_json::from_str(&text).ok()?;
        return answer(fields::array(raw)?.last()?, depth);
    };
    if fields.has("role") {
        return (fields.has("content") || fields.has("tool_calls")).then(|| text.into_owned());
    }
    if let Some(choices) = fields.array("choices") {
        return answer(choices.first()?, depth);
    }
    ["message", "body", "response"].iter().find_map(|name| answer(fields.take(name)?, depth))
}

/// The model named in a response, however it is wrapped.
fn model_of(raw: &RawValue, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let text = decoded(raw);
    let mut fields = Fields::parse(&text).ok()?;
    if let Some(model) = fields.string("model") {
        return Some(model.into_owned());
    }
    ["message", "body", "response"].iter().find_map(|name| model_of(fields.take(name)?, depth))
}

/// The value itself, or the JSON that a string contains.
fn decoded(raw: &RawValue) -> Cow<'_, str> {
    let text = fields::string(raw).filter(|text| text.trim_start().starts_with(['{', '[']));
    text.unwrap_or(Cow::Borrowed(raw.get()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn user_messages() -> Value {
        json!([{ "role": "user", "content": "Cancel it." }])
    }

    fn assistant_message() -> Value {
        json!({ "role": "assistant", "content": "It is cancelled." })
    }

    fn roles(text: &Value) -> Option<String> {
        let whole: Value = serde_json::from_str(&composed(&text.to_string())?).unwrap();
        let messages = whole.get("messages")?.as_array()?;
        let roles = messages.iter().map(|m| m.get("role").and_then(Value::as_str));
        let tools = whole.get("tools").map_or("", |_| " with tools");
        let id = whole.get("id").and_then(Value::as_str).unwrap_or_default();
        Some(format!("{id}: {}{tools}", roles.flatten().collect::<Vec<_>>().join(" ")))
    }

    #[test]
    fn exchanges_are_conversations() {
        let completion = json!({ "choices": [{ "message": assistant_message() }] });
        let request = json!({ "messages": user_messages(), "tools": [] });
        for (exchange, expected) in [
            (json!({ "request": request, "response": completion }), ": user assistant with tools"),
            (
                json!({ "request_id": "r", "request_body": request, "response_body": completion }),
                "r: user assistant with tools",
            ),
            (json!({ "custom_id": "c", "body": request }), "c: user with tools"),
            (
                json!({ "custom_id": "c", "response": { "status_code": 200, "body": completion } }),
                "c: assistant",
            ),
            (
                json!({ "custom_id": "c", "result": { "message": assistant_message() } }),
                "c: assistant",
            ),
            (
                json!({ "input": user_messages(), "output": [{ "message": assistant_message() }] }),
                ": user assistant",
            ),
            (
                json!({ "input": request.to_string(), "output": assistant_message().to_string() }),
                ": user assistant with tools",
            ),
            (
                json!({
                    "messages": user_messages(), "response": completion,
                    "model_parameters": { "tools": [] },
                }),
                ": user assistant with tools",
            ),
            (json!({ "task_id": 1, "traj": user_messages() }), ": user"),
            (
                json!({
                    "request": { "system": "Be brief.", "messages": user_messages() },
                    "response": assistant_message(),
                }),
                ": system user assistant",
            ),
        ] {
            assert_eq!(roles(&exchange).as_deref(), Some(expected), "{exchange}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for other in [
            json!({ "messages": user_messages() }),
            json!({ "messages": user_messages(), "response": null }),
            assistant_message(),
            json!({ "choices": [{ "message": assistant_message() }] }),
            json!({ "input": "Cancel it.", "output": "It is cancelled." }),
            json!({ "input": [], "output": {} }),
            json!({ "body": "text", "result": 7 }),
            json!([user_messages()]),
        ] {
            assert_eq!(composed(&other.to_string()), None, "{other}");
        }
        let deep =
            format!("{}{}{}", "{\"response\":".repeat(9), assistant_message(), "}".repeat(9));
        assert_eq!(composed(&deep), None);
    }
}
