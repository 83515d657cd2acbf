//! A model's answers in the format of each wire.

use counterfoil_providers::{Assembly, Kind, Reply, whole};
use serde_json::{Value, json};

/// A wire: its path, and how its answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    Chat,
    Responses,
    Messages,
}

pub(super) const WIRES: [On; 3] = [On::Chat, On::Responses, On::Messages];

/// A part of a model's answer.
#[derive(Debug, Clone)]
pub(super) enum Says {
    Text(&'static str),
    /// A call: id, tool, arguments.
    Call(&'static str, &'static str, &'static str),
}

use Says::{Call, Text};

impl On {
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Chat => Kind::OpenAi,
            Self::Responses => Kind::Responses,
            Self::Messages => Kind::Anthropic,
        }
    }

    /// A request with two tools of a shop and an earlier conversation.
    pub(super) fn request(self, user: &str, done: &[(&str, &str, &str, &str)]) -> Value {
        let schema = json!({
            "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"],
        });
        let names = ["get_order", "cancel_order"];
        let tools: Vec<Value> = names
            .iter()
            .map(|name| match self {
                Self::Chat => json!({ "type": "function", "function": {
                    "name": name, "description": "Of the shop.", "parameters": schema } }),
                Self::Responses => json!({ "type": "function", "name": name,
                    "description": "Of the shop.", "parameters": schema }),
                Self::Messages => json!({ "name": name, "description": "Of the shop.",
                    "input_schema": schema }),
            })
            .collect();
        let mut entries = vec![json!({ "role": "user", "content": user })];
        for (id, tool, arguments, result) in done {
            entries.extend(self.done(id, tool, arguments, result));
        }
        let conversation = if self == Self::Responses { "input" } else { "messages" };
        json!({ "model": "m-1", "stream": true, "max_tokens": 100, "tools": tools,
            conversation: entries })
    }

    fn done(self, id: &str, tool: &str, arguments: &str, result: &str) -> [Value; 2] {
        match self {
            Self::Chat => [
                json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id,
                    "type": "function", "function": { "name": tool, "arguments": arguments } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": result }),
            ],
            Self::Responses => [
                json!({ "type": "function_call", "call_id": id, "name": tool,
                    "arguments": arguments }),
                json!({ "type": "function_call_output", "call_id": id, "output": result }),
            ],
            Self::Messages => [
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id,
                    "name": tool, "input": serde_json::from_str::<Value>(arguments).unwrap() }] }),
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id,
                    "content": result }] }),
            ],
        }
    }

    /// The answer without streaming.
    pub(super) fn whole(self, says: &[Says]) -> Value {
        let calls = says.iter().any(|says| matches!(says, Call(..)));
        match self {
            Self::Chat => {
                let mut message = json!({ "role": "assistant", "content": null });
                let mut all = Vec::new();
                for says in says {
                    match says {
                        Text(text) => message["content"] = json!(text),
                        Call(id, name, arguments) => all
                            .push(json!({ "id": id, "type": "function",
                            "function": { "name": name, "arguments": arguments } })),
                    }
                }
                if calls {
                    message["tool_calls"] = json!(all);
                }
                json!({ "id": "chatcmpl-1", "object": "chat.completion", "created": 1,
                    "model": "m-1", "usage": { "prompt_tokens": 7, "completion_tokens": 5 },
                    "choices": [{ "index": 0, "message": message,
                        "finish_reason": if calls { "tool_calls" } else { "stop" } }] })
            }
            Self::Responses => {
                let items: Vec<Value> =
                    says.iter().enumerate().map(|(at, says)| item(at, says)).collect();
                response("completed", &items)
            }
            Self::Messages => {
                let blocks: Vec<Value> = says.iter().map(block).collect();
                json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
                    "content": blocks, "stop_reason": if calls { "tool_use" } else { "end_turn" },
                    "usage": { "input_tokens": 7, "output_tokens": 5 } })
            }
        }
    }

    /// The answer as a stream, word by word.
    pub(super) fn stream(self, says: &[Says]) -> String {
        match self {
            Self::Chat => chat(says),
            Self::Responses => responses(says),
            Self::Messages => messages(says),
        }
    }

    /// The answer that a client gets, parsed. Every event of it must be readable.
    pub(super) fn read(self, text: &str) -> Reply {
        if text.starts_with('{') {
            return whole(self.kind(), text).unwrap();
        }
        let mut assembly = Assembly::new(self.kind());
        for event in text.split("\n\n") {
            let data: Vec<&str> =
                event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            if !data.is_empty() {
                assembly.take(&data.join("\n"), &mut |_| {}).unwrap();
            }
        }
        assembly.finish().unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(' ').collect()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named(value: &Value) -> String {
    format!("event: {}\n{}", value["type"].as_str().unwrap(), data(value))
}

fn chat(says: &[Says]) -> String {
    let chunk = |delta: Value, finish: Value| {
        data(&json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m-1", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }))
    };
    let mut out = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
    let mut calls = 0;
    for says in says {
        match says {
            Text(text) => {
                for word in words(text) {
                    out += &chunk(json!({ "content": word }), Value::Null);
                }
            }
            Call(id, name, arguments) => {
                let function = json!({ "name": name, "arguments": "" });
                let call = json!({ "index": calls, "id": id, "type": "function",
                    "function": function });
                out += &chunk(json!({ "tool_calls": [call] }), Value::Null);
                for part in words(arguments) {
                    let call = json!({ "index": calls, "function": { "arguments": part } });
                    out += &chunk(json!({ "tool_calls": [call] }), Value::Null);
                }
                calls += 1;
            }
        }
    }
    out += &chunk(json!({}), json!(if calls > 0 { "tool_calls" } else { "stop" }));
    out += &data(&json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
        "model": "m-1", "choices": [],
        "usage": { "prompt_tokens": 7, "completion_tokens": 5 } }));
    out + "data: [DONE]\n\n"
}

fn block(says: &Says) -> Value {
    match says {
        Text(text) => json!({ "type": "text", "text": text }),
        Call(id, name, arguments) => json!({ "type": "tool_use", "id": id, "name": name,
            "input": serde_json::from_str::<Value>(arguments).unwrap() }),
    }
}

fn messages(says: &[Says]) -> String {
    let mut out = named(&json!({ "type": "message_start", "message": { "id": "msg_1",
        "type": "message", "role": "assistant", "model": "m-1", "content": [],
        "stop_reason": null, "usage": { "input_tokens": 7, "output_tokens": 1 } } }));
    out += &named(&json!({ "type": "ping" }));
    let mut calls = false;
    for (index, says) in says.iter().enumerate() {
        let (block, deltas): (Value, Vec<Value>) = match says {
            Text(text) => (
                json!({ "type": "text", "text": "" }),
                words(text).iter().map(|w| json!({ "type": "text_delta", "text": w })).collect(),
            ),
            Call(id, name, arguments) => {
                calls = true;
                let parts = words(arguments);
                let delta =
                    |part: &&str| json!({ "type": "input_json_delta", "partial_json": part });
                (
                    json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                    parts.iter().map(delta).collect(),
                )
            }
        };
        out += &named(&json!({ "type": "content_block_start", "index": index,
            "content_block": block }));
        for delta in deltas {
            out +=
                &named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        out += &named(&json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = if calls { "tool_use" } else { "end_turn" };
    out += &named(&json!({ "type": "message_delta",
        "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": 5 } }));
    out + &named(&json!({ "type": "message_stop" }))
}

fn item(at: usize, says: &Says) -> Value {
    match says {
        Text(text) => json!({ "type": "message", "id": format!("msg_{at}"), "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] }),
        Call(id, name, arguments) => json!({ "type": "function_call", "id": format!("fc_{at}"),
            "call_id": id, "name": name, "arguments": arguments, "status": "completed" }),
    }
}

fn response(status: &str, items: &[Value]) -> Value {
    json!({ "id": "resp_1", "object": "response", "status": status, "model": "m-1",
        "output": items, "usage": { "input_tokens": 7, "output_tokens": 5 } })
}

fn responses(says: &[Says]) -> String {
    let (mut number, mut out) = (0, String::new());
    let mut event = |kind: &str, mut members: Value| {
        members["type"] = json!(kind);
        members["sequence_number"] = json!(number);
        number += 1;
        out += &named(&members);
    };
    event("response.created", json!({ "response": response("in_progress", &[]) }));
    for (at, says) in says.iter().enumerate() {
        let done = item(at, says);
        let id = done["id"].clone();
        match says {
            Text(text) => {
                let mut added = done.clone();
                added["content"] = json!([]);
                event("response.output_item.added", json!({ "output_index": at, "item": added }));
                let place = json!({ "item_id": id, "output_index": at, "content_index": 0 });
                let with = |name: &str, value: Value| {
                    let mut members = place.clone();
                    members[name] = value;
                    members
                };
                let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
                event("response.content_part.added", with("part", empty));
                for word in words(text) {
                    event("response.output_text.delta", with("delta", json!(word)));
                }
                event("response.output_text.done", with("text", json!(text)));
                let part = done["content"][0].clone();
                event("response.content_part.done", with("part", part));
            }
            Call(_, _, arguments) => {
                let mut added = done.clone();
                added["arguments"] = json!("");
                event("response.output_item.added", json!({ "output_index": at, "item": added }));
                for part in words(arguments) {
                    let delta = json!({ "item_id": id, "output_index": at, "delta": part });
                    event("response.function_call_arguments.delta", delta);
                }
                let end = json!({ "item_id": id, "output_index": at, "arguments": arguments });
                event("response.function_call_arguments.done", end);
            }
        }
        event("response.output_item.done", json!({ "output_index": at, "item": done }));
    }
    let items: Vec<Value> = says.iter().enumerate().map(|(at, says)| item(at, says)).collect();
    event("response.completed", json!({ "response": response("completed", &items) }));
    out
}
