use counterfoil_model::{
    Catalog, Message, Origin, Outcome, RecordedReceipt, Role, Tool, ToolCall, Transcript,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Exports a session in our own transcript format: the OpenAI chat format with `receipts`, which
/// `counterfoil check` reads.
///
/// A tool message carries `is_error`, `exit_code`, `is_refused`, `still_running` and
/// `is_truncated`; times are RFC 3339 in UTC.
#[must_use]
pub fn export(transcript: &Transcript) -> Value {
    let mut session = Map::new();
    session.insert("id".to_owned(), json!(transcript.id));
    if transcript.catalog.is_known() {
        session.insert("tools".to_owned(), tool_list(&transcript.catalog));
    }
    let messages: Vec<Value> = transcript.messages.iter().map(message).collect();
    session.insert("messages".to_owned(), Value::Array(messages));
    if let Some(receipts) = &transcript.receipts {
        session.insert("receipts".to_owned(), receipts.iter().map(receipt).collect());
    }
    Value::Object(session)
}

/// The available tools of a catalog, in the OpenAI format.
pub(crate) fn tool_list(catalog: &Catalog) -> Value {
    catalog.iter().filter(|tool| tool.available).map(tool).collect()
}

fn tool(tool: &Tool) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(tool.name));
    function.insert("description".to_owned(), json!(tool.description));
    if let Some(parameters) = &tool.parameters {
        function.insert("parameters".to_owned(), parameters.clone());
    }
    let origin = match &tool.origin {
        Origin::Builtin => Some("builtin".to_owned()),
        Origin::Skill { name } => Some(format!("skill:{name}")),
        Origin::Mcp { .. } | Origin::External => None,
    };
    function.extend(origin.map(|origin| ("origin".to_owned(), json!(origin))));
    json!({ "type": "function", "function": function })
}

fn message(message: &Message) -> Value {
    let mut object = Map::new();
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    object.insert("role".to_owned(), json!(role));
    match message.outcomes.first() {
        Some(outcome) => result(outcome, &mut object),
        None => {
            object.insert("content".to_owned(), json!(message.text));
        }
    }
    if !message.calls.is_empty() {
        object.insert("tool_calls".to_owned(), message.calls.iter().map(call).collect());
    }
    if let Some(agent) = &message.agent {
        object.insert("agent".to_owned(), json!(agent));
    }
    if let Some(time) = message.time.and_then(rfc3339) {
        object.insert("timestamp".to_owned(), json!(time));
    }
    Value::Object(object)
}

fn result(outcome: &Outcome, object: &mut Map<String, Value>) {
    object.insert("content".to_owned(), json!(outcome.text));
    object.insert("tool_call_id".to_owned(), json!(outcome.call_id));
    if let Some(is_error) = outcome.is_error {
        object.insert("is_error".to_owned(), json!(is_error));
    }
    if let Some(code) = outcome.exit_code {
        object.insert("exit_code".to_owned(), json!(code));
    }
    object.insert("is_refused".to_owned(), json!(outcome.refused));
    if outcome.unread {
        object.insert("is_unread".to_owned(), json!(true));
    }
    if outcome.running {
        object.insert("still_running".to_owned(), json!(true));
    }
    if outcome.truncated {
        object.insert("is_truncated".to_owned(), json!(true));
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.tool, "arguments": call.arguments.as_str() },
    })
}

fn receipt(receipt: &RecordedReceipt) -> Value {
    json!({
        "execution_id": receipt.id,
        "tool": receipt.tool,
        "call_id": receipt.call_id,
        "status": receipt.status,
        "started_at": receipt.started.and_then(rfc3339),
        "ended_at": receipt.ended.and_then(rfc3339),
        "result": receipt.result,
    })
}

fn rfc3339(millis: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(millis).ok()?;
    Some(format!("{time:.3}"))
}
