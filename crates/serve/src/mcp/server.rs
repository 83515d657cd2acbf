use std::io;

use counterfoil_guard::{Answer, Guard, Session, Surroundings};
use counterfoil_model::{Arguments, Status, Tool, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::lines::{Line, Lines};
use super::message::{self, EXECUTION_ID, Message, code};

/// Revisions of the protocol that this server speaks, the latest first.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision that is answered to one that is not known.
const LATEST: &str = "2025-11-25";

/// Offers the tools of a guard to one client, until it is gone. Every call goes through
/// [`Guard::call`].
///
/// # Errors
/// When a stream breaks.
pub async fn serve(
    guard: &Guard,
    session: &Session,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next().await? {
        let answer = match line {
            Line::Text(text) => answer(guard, session, &text).await,
            Line::Unreadable(why) => Some(message::error(None, code::PARSE_ERROR, why)),
        };
        if let Some(answer) = answer {
            output.write_all(format!("{answer}\n").as_bytes()).await?;
            output.flush().await?;
        }
    }
    Ok(())
}

/// What is answered to a line; nothing to a notification.
async fn answer(guard: &Guard, session: &Session, text: &str) -> Option<String> {
    let message = match Message::read(text) {
        Ok(message) => message,
        Err(error) => return Some(message::error(None, code::PARSE_ERROR, &error.to_string())),
    };
    let (id, method) = (message.id?, message.method.as_deref()?);
    let params = message.params();
    Some(match method {
        "initialize" => message::result(id, &greeting(params)),
        "ping" => message::result(id, &json!({})),
        "tools/list" => {
            let tools: Vec<Value> = guard.catalog().iter().map(described).collect();
            message::result(id, &json!({ "tools": tools }))
        }
        "tools/call" => match params.map(|raw| serde_json::from_str::<Asked<'_>>(raw.get())) {
            Some(Ok(asked)) => call(guard, session, id, asked).await,
            Some(Err(error)) => {
                message::error(Some(id), code::INVALID_PARAMS, &format!("`params`: {error}"))
            }
            None => message::error(Some(id), code::INVALID_PARAMS, "a tool call has `params`"),
        },
        other => {
            let wrong = format!("there is no method `{other}`");
            message::error(Some(id), code::METHOD_NOT_FOUND, &wrong)
        }
    })
}

#[derive(Deserialize)]
struct Asked<'m> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'m RawValue>,
}

fn greeting(params: Option<&RawValue>) -> Value {
    let wanted = params.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let wanted = wanted.as_ref().and_then(|params| params.get("protocolVersion")?.as_str());
    let spoken = REVISIONS.iter().find(|known| Some(**known) == wanted).unwrap_or(&LATEST);
    json!({
        "protocolVersion": spoken,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "counterfoil", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn described(tool: &Tool) -> Value {
    let schema = tool.parameters.clone().unwrap_or_else(|| json!({ "type": "object" }));
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema,
        "annotations": { "readOnlyHint": tool.effects.writes == Some(false) },
    })
}

async fn call(guard: &Guard, session: &Session, id: &str, asked: Asked<'_>) -> String {
    let call = ToolCall {
        id: id.to_owned(),
        tool: asked.name,
        arguments: Arguments::raw(asked.arguments.map_or("{}", RawValue::get)),
        line: 0,
    };
    match guard.call(session, call, Surroundings::default()).await {
        Ok(answer) => message::result(id, &told(&answer)),
        Err(error) => message::error(Some(id), code::INTERNAL_ERROR, &error.to_string()),
    }
}

fn told(answer: &Answer) -> Value {
    let mut told = json!({
        "content": [{ "type": "text", "text": answer.text }],
        "isError": answer.status != Status::Completed,
        "_meta": { EXECUTION_ID: answer.execution_id },
    });
    let structured = answer.structured.as_ref().filter(|value| value.is_object());
    if let (Some(structured), Some(members)) = (structured, told.as_object_mut()) {
        members.insert("structuredContent".to_owned(), structured.clone());
    }
    told
}
