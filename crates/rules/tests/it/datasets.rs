//! The optional large data sets: read when they lie beside the repository, skipped otherwise.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use counterfoil_model::{
    Arguments, Catalog, Format, Message, Outcome, Role, Tool, ToolCall, Transcript,
};
use flate2::read::GzDecoder;
use serde_json::Value;

/// The path of a data set; `None`, and a note, when it is not there.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not here");
    None
}

/// The rows of a compressed JSONL data set; empty when it is not there.
pub(crate) fn rows(name: &str) -> impl Iterator<Item = Value> {
    let lines = path(name).map(|path| {
        let file = File::open(path).expect("data sets are readable");
        BufReader::new(GzDecoder::new(file)).lines()
    });
    lines.into_iter().flatten().map(|line| {
        serde_json::from_str(&line.expect("data sets are UTF-8")).expect("data sets are JSON")
    })
}

/// The tools of a row.
pub(crate) fn catalog(row: &Value) -> Catalog {
    let Some(tools) = row["tools"].as_array() else { return Catalog::unknown() };
    let tool = |tool: &Value| Tool {
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        parameters: tool.get("parameters").filter(|p| p.is_object()).cloned(),
        ..Tool::named(tool["name"].as_str().unwrap_or_default())
    };
    Catalog::known(tools.iter().map(tool)).0
}

/// A row as a transcript: just enough for call rules.
pub(crate) fn transcript(row: &Value) -> Transcript {
    let mut transcript =
        Transcript::new(row["id"].as_str().unwrap_or_default(), Format::OpenaiChat);
    transcript.catalog = catalog(row);
    for message in row["messages"].as_array().into_iter().flatten() {
        let text = message["content"].as_str().unwrap_or_default();
        let role = match message["role"].as_str() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("tool") => Role::Tool,
            _ => Role::Assistant,
        };
        let mut read = Message::text(role, if role == Role::Tool { "" } else { text });
        if role == Role::Tool {
            read.outcomes.push(Outcome {
                call_id: message["tool_call_id"].as_str().unwrap_or_default().to_owned(),
                text: text.to_owned(),
                is_error: message["is_error"].as_bool(),
                exit_code: message["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
                running: message["still_running"].as_bool() == Some(true),
                ..Outcome::default()
            });
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            read.calls.push(ToolCall {
                id: call["id"].as_str().unwrap_or_default().to_owned(),
                tool: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
                arguments: Arguments::raw(
                    call["function"]["arguments"].as_str().unwrap_or_default(),
                ),
                line: 0,
            });
        }
        transcript.messages.push(read);
    }
    transcript
}
