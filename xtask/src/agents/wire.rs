//! The three wire formats: Anthropic Messages, OpenAI Responses, Gemini.

mod anthropic;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::scenario::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Anthropic,
    Responses,
    Gemini,
}

impl Wire {
    pub(super) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/v1/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else {
            let method = path.rsplit(':').next().unwrap_or_default();
            let generates = matches!(method, "generateContent" | "streamGenerateContent");
            generates.then_some(Self::Gemini)
        }
    }

    /// Answers a request that the agent's program makes outside the session.
    pub(super) fn beside_the_session(self, body: &Value) -> Option<String> {
        match self {
            Self::Gemini if gemini::wants_json(body) => Some(gemini::judgement(body)),
            _ => self.tools(body).is_empty().then(|| "ok".to_owned()),
        }
    }

    /// Returns the names of the offered tools.
    fn tools(self, body: &Value) -> Vec<String> {
        let nested = match self {
            Self::Anthropic => "",
            Self::Responses => "tools",
            Self::Gemini => "functionDeclarations",
        };
        let mut names = Vec::new();
        for tool in list(body, "tools") {
            let inner = list(tool, nested);
            let all = std::iter::once(tool).chain(inner);
            let named = all.filter_map(|t| t["name"].as_str().or_else(|| t["type"].as_str()));
            names.extend(named.map(str::to_owned));
        }
        names
    }

    /// Returns the texts that identify the conversation.
    pub(super) fn words(self, body: &Value) -> String {
        match self {
            Self::Anthropic => text(&body["messages"][0]["content"]),
            Self::Responses => responses::words(body),
            Self::Gemini => gemini::words(body),
        }
    }

    /// Returns the number of replies in the conversation, or the name of its thread if the history
    /// does not contain them.
    pub(super) fn replies(self, body: &Value) -> Result<usize, String> {
        let (items, role) = match self {
            Self::Anthropic => (list(body, "messages"), "assistant"),
            Self::Gemini => (list(body, "contents"), "model"),
            Self::Responses => return Err(responses::thread(body)),
        };
        Ok(items.iter().filter(|m| m["role"] == role).count())
    }

    /// Returns the newest part of the conversation, which the model has not seen before.
    pub(super) fn newest(body: &Value) -> String {
        let items = ["messages", "input", "contents"];
        let items = items.iter().map(|name| list(body, name)).find(|items| !items.is_empty());
        // A hook's text may follow a result as a system message.
        let own = |item: &&Value| item["role"] == "system";
        let items = items.unwrap_or_default().iter().rev();
        let added = items.clone().take_while(own);
        let newest = items.clone().find(|item| !own(item));
        added.chain(newest).map(Value::to_string).collect::<Vec<_>>().join("\n")
    }

    /// Converts a reply into the provider's blocks.
    pub(super) fn blocks(self, body: &Value, actions: &[Action], number: usize) -> Vec<Value> {
        let tools = self.tools(body);
        let alone = actions.len() == 1;
        let block = |(at, action): (usize, &Action)| {
            let id = number * 100 + at;
            match self {
                Self::Anthropic => anthropic::block(action, &tools, id),
                Self::Responses => responses::block(action, body, &tools, id),
                Self::Gemini => gemini::block(action, &tools, alone),
            }
        };
        actions.iter().enumerate().map(block).collect()
    }

    /// Encodes a reply for the wire; returns it with its content type.
    pub(super) fn encoded(
        self,
        path: &str,
        body: &Value,
        blocks: &[Value],
        number: usize,
    ) -> (&'static str, String) {
        match self {
            Self::Anthropic => anthropic::encoded(body, blocks, number),
            Self::Responses => ("text/event-stream", responses::encoded(blocks, number)),
            Self::Gemini => gemini::encoded(path, blocks),
        }
    }
}

/// Returns the status and answer for a request that is not meant for the model.
pub(super) fn beside(path: &str) -> (u16, String) {
    if path.ends_with("count_tokens") {
        (200, json!({ "input_tokens": 100 }).to_string())
    } else if path.ends_with(":countTokens") {
        (200, json!({ "totalTokens": 100 }).to_string())
    } else if path.ends_with("/models") || path == "/" {
        (200, json!({ "data": [], "models": [] }).to_string())
    } else {
        (404, "{}".to_owned())
    }
}

/// Finds an MCP server's tool among the offered tools; each client adds the server's name as a
/// prefix in its own way.
fn served<'t>(tools: &'t [String], tool: &str) -> Option<&'t str> {
    let mut names = tools.iter().map(String::as_str);
    names.find(|name| name.starts_with("mcp") && name.ends_with(tool))
}

/// Formats a stream of named events.
fn events(events: Vec<(&str, Value)>) -> String {
    let mut text = String::new();
    for (name, mut data) in events {
        data["type"] = name.into();
        text.push_str(&format!("event: {name}\ndata: {data}\n\n"));
    }
    text
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns all text in a message's content.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => {
            let names = ["text", "content", "parts", "encrypted_content"];
            names.iter().find_map(|name| part.get(*name)).map(text).unwrap_or_default()
        }
        _ => String::new(),
    }
}
