//! Translates spans of other instrumentations to OpenTelemetry's GenAI conventions: OpenInference,
//! OpenLLMetry, the Vercel AI SDK, MLflow, Langfuse.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::otlp::{self, Span};

const OPERATION: &str = "gen_ai.operation.name";
const REQUESTED: &str = "gen_ai.input.messages";
const ANSWERED: &str = "gen_ai.output.messages";
const TOOLS: &str = "gen_ai.tool.definitions";

/// Translates the attributes of a span that does not follow the convention.
pub(crate) fn translate(span: &mut Span) {
    if span.attributes.contains_key(REQUESTED) || span.attributes.contains_key(ANSWERED) {
        let chat = || Value::from("chat");
        span.attributes.entry(OPERATION.to_owned()).or_insert_with(chat);
        return;
    }
    let dialects = [openinference, openllmetry, vercel, mlflow, langfuse];
    if let Some(content) = dialects.iter().find_map(|dialect| dialect(span)) {
        for (key, value) in content.attributes() {
            span.attributes.insert(key.to_owned(), value);
        }
    }
}

/// Kinds of spans that only hold other spans, or hold no messages, calls or results.
const WRAPPERS: [&str; 10] = [
    "agent",
    "chain",
    "workflow",
    "parser",
    "embedding",
    "reranker",
    "guardrail",
    "evaluator",
    "prompt",
    "memory",
];

/// Whether a span only holds others, judging by its kind; for the Vercel AI SDK, by its name.
pub(crate) fn only_wraps(span: &Span) -> bool {
    let kinds = ["openinference.span.kind", "traceloop.span.kind", "mlflow.spanType", otlp::KIND];
    let kind = kinds.iter().find_map(|key| value(span, key)).map(structured);
    let kind = kind.as_ref().and_then(Value::as_str).map(str::to_ascii_lowercase);
    let calls = ["ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"];
    kind.is_some_and(|kind| WRAPPERS.contains(&kind.as_str()))
        || text(span, "ai.operationId").is_some_and(|name| calls.contains(&name))
        || calls.contains(&span.name.as_str())
}

/// The content of a span.
enum SpanContent {
    /// A request to a model with the messages of both sides.
    Chat {
        requested: Vec<Value>,
        answered: Vec<Value>,
        tools: Option<Value>,
    },
    Tool {
        id: Option<Value>,
        name: Value,
        arguments: Option<Value>,
        result: Option<Value>,
    },
}

impl SpanContent {
    fn attributes(self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Chat { requested, answered, tools } => {
                let mut attributes = vec![
                    (OPERATION, Value::from("chat")),
                    (REQUESTED, requested.into()),
                    (ANSWERED, answered.into()),
                ];
                attributes.extend(tools.map(|tools| (TOOLS, tools)));
                attributes
            }
            Self::Tool { id, name, arguments, result } => {
                let mut attributes =
                    vec![(OPERATION, Value::from("execute_tool")), ("gen_ai.tool.name", name)];
                attributes.extend(id.map(|id| ("gen_ai.tool.call.id", id)));
                attributes.extend(arguments.map(|a| ("gen_ai.tool.call.arguments", a)));
                attributes.extend(result.map(|result| ("gen_ai.tool.call.result", result)));
                attributes
            }
        }
    }
}

fn text<'s>(span: &'s Span, key: &str) -> Option<&'s str> {
    span.attributes.get(key)?.as_str()
}

fn value(span: &Span, key: &str) -> Option<Value> {
    span.attributes.get(key).cloned()
}

/// Parses a value that may be written as JSON text.
fn structured(value: Value) -> Value {
    value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value)
}

fn openinference(span: &Span) -> Option<SpanContent> {
    let kind = text(span, "openinference.span.kind")?;
    match kind {
        "LLM" => {
            let requested = numbered(&span.attributes, "llm.input_messages.");
            let answered = numbered(&span.attributes, "llm.output_messages.");
            let tools = numbered(&span.attributes, "llm.tools.")
                .into_iter()
                .filter_map(|tool| Some(structured(tool.pointer("/tool/json_schema")?.clone())));
            let tools: Vec<Value> = tools.collect();
            Some(SpanContent::Chat {
                requested: requested.into_iter().map(inner_message).collect(),
                answered: answered.into_iter().map(inner_message).collect(),
                tools: (!tools.is_empty()).then(|| tools.into()),
            })
        }
        "TOOL" | "RETRIEVER" => Some(SpanContent::Tool {
            id: value(span, "tool_call.id"),
            name: value(span, "tool.name").unwrap_or_else(|| span.name.clone().into()),
            arguments: value(span, "input.value").or_else(|| value(span, "tool.parameters")),
            result: value(span, "output.value"),
        }),
        _ => None,
    }
}

/// Unwraps `{message: {role, content, tool_calls: [{tool_call: {id, function}}]}}`.
fn inner_message(mut outer: Value) -> Value {
    let mut message = outer.get_mut("message").map(Value::take).unwrap_or(outer);
    if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
        for call in calls {
            if let Some(inner) = call.get_mut("tool_call").map(Value::take) {
                *call = inner;
            }
        }
    }
    if message.get("content").is_none()
        && let Some(contents) = message.get("contents").and_then(Value::as_array)
    {
        let texts = contents.iter().filter_map(|part| part.pointer("/message_content/text"));
        let parts: Vec<Value> =
            texts.map(|text| json!({ "type": "text", "content": text })).collect();
        put(&mut message, "content", parts.into());
    }
    message
}

fn openllmetry(span: &Span) -> Option<SpanContent> {
    if text(span, "traceloop.span.kind") == Some("tool") {
        return Some(SpanContent::Tool {
            id: None,
            name: value(span, "traceloop.entity.name").unwrap_or_else(|| span.name.clone().into()),
            arguments: value(span, "traceloop.entity.input"),
            result: value(span, "traceloop.entity.output"),
        });
    }
    let requested = numbered(&span.attributes, "gen_ai.prompt.");
    let answered = numbered(&span.attributes, "gen_ai.completion.");
    let tools = numbered(&span.attributes, "llm.request.functions.");
    let tools = (!tools.is_empty()).then(|| {
        let schema = |mut tool: Value| {
            if let Some(parameters) = tool.get_mut("parameters") {
                *parameters = structured(parameters.take());
            }
            json!({ "type": "function", "function": tool })
        };
        tools.into_iter().map(schema).collect()
    });
    (!requested.is_empty() || !answered.is_empty()).then_some(SpanContent::Chat {
        requested,
        answered,
        tools,
    })
}

fn vercel(span: &Span) -> Option<SpanContent> {
    if let Some(name) = value(span, "ai.toolCall.name") {
        return Some(SpanContent::Tool {
            id: value(span, "ai.toolCall.id"),
            name,
            arguments: value(span, "ai.toolCall.args"),
            result: value(span, "ai.toolCall.result"),
        });
    }
    let requested = structured(value(span, "ai.prompt.messages")?);
    let requested = requested.as_array()?.iter().map(model_message).collect();
    let calls = value(span, "ai.response.toolCalls").map(structured);
    let calls: Vec<Value> =
        calls.iter().filter_map(Value::as_array).flatten().map(tool_call).collect();
    let reply = text(span, "ai.response.text").unwrap_or_default();
    let answered = vec![json!({ "role": "assistant", "content": reply, "tool_calls": calls })];
    Some(SpanContent::Chat { requested, answered, tools: None })
}

fn tool_call(call: &Value) -> Value {
    let arguments = call.get("input").or_else(|| call.get("args"));
    json!({
        "id": call.get("toolCallId"), "name": call.get("toolName"), "arguments": arguments,
    })
}

/// Translates a model message of the Vercel AI SDK.
fn model_message(message: &Value) -> Value {
    let Some(content) = message.get("content").and_then(Value::as_array) else {
        return message.clone();
    };
    let part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("tool-call") => {
            let mut call = tool_call(part);
            put(&mut call, "type", "tool_call".into());
            call
        }
        Some("tool-result") => {
            let output = part.get("output").or_else(|| part.get("result"));
            let typed = output.and_then(|output| Some((output.get("type")?, output.get("value")?)));
            let response = typed.map(|(_, value)| value).or(output);
            json!({ "type": "tool_call_response", "id": part.get("toolCallId"), "response": response })
        }
        _ => part.clone(),
    };
    json!({ "role": message.get("role"), "parts": content.iter().map(part).collect::<Vec<_>>() })
}

fn mlflow(span: &Span) -> Option<SpanContent> {
    let kind = structured(value(span, "mlflow.spanType")?);
    let requested = value(span, "mlflow.spanInputs").map(structured);
    let answered = value(span, "mlflow.spanOutputs").map(structured);
    exchange(kind.as_str()?, &span.name, requested, answered)
}

fn langfuse(span: &Span) -> Option<SpanContent> {
    let kind = text(span, otlp::KIND)?.to_owned();
    let requested = value(span, otlp::INPUT).map(structured);
    let answered = value(span, otlp::OUTPUT).map(structured);
    let name = text(span, otlp::NAME).unwrap_or(&span.name);
    exchange(&kind, name, requested, answered)
}

/// Translates a span that holds its input and output verbatim.
fn exchange(
    kind: &str,
    name: &str,
    requested: Option<Value>,
    answered: Option<Value>,
) -> Option<SpanContent> {
    match kind {
        "CHAT_MODEL" | "LLM" | "GENERATION" => {
            let requested = requested?;
            let tools = requested.get("tools").cloned();
            let messages = requested.get("messages").unwrap_or(&requested).as_array()?.clone();
            let answered = answered.map(answer).into_iter().collect();
            Some(SpanContent::Chat { requested: messages, answered, tools })
        }
        "TOOL" => Some(SpanContent::Tool {
            id: None,
            name: name.into(),
            arguments: requested,
            result: answered,
        }),
        _ => None,
    }
}

/// The message of a response: the first choice, a message, or bare text.
fn answer(answered: Value) -> Value {
    if let Some(message) = answered.pointer("/choices/0/message") {
        return message.clone();
    }
    match answered {
        Value::String(text) => json!({ "role": "assistant", "content": text }),
        Value::Object(mut message) => {
            message.entry("role").or_insert_with(|| "assistant".into());
            message.into()
        }
        other => json!({ "role": "assistant", "content": other.to_string() }),
    }
}

/// Rebuilds the list from flattened attributes such as `llm.input_messages.0.message.role`.
fn numbered(attributes: &BTreeMap<String, Value>, prefix: &str) -> Vec<Value> {
    let mut root = Value::Object(Map::new());
    let range = attributes.range(prefix.to_owned()..);
    for (key, value) in range.take_while(|(key, _)| key.starts_with(prefix)) {
        let path = key.strip_prefix(prefix).unwrap_or_default();
        put(&mut root, path, value.clone());
    }
    match lists(root) {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}

/// Maximum number of segments in a name.
const DEPTH: usize = 16;

fn put(root: &mut Value, path: &str, value: Value) {
    let mut place = root;
    if path.split('.').count() > DEPTH {
        return;
    }
    for part in path.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(members) = place else { return };
        place = members.entry(part).or_insert(Value::Null);
    }
    *place = value;
}

/// Turns objects whose keys are all numbers into lists, in numeric order.
fn lists(value: Value) -> Value {
    let Value::Object(members) = value else { return value };
    let mut parts: Vec<(String, Value)> =
        members.into_iter().map(|(key, value)| (key, lists(value))).collect();
    let numbers: Option<Vec<usize>> = parts.iter().map(|(key, _)| key.parse().ok()).collect();
    match numbers {
        Some(numbers) if !numbers.is_empty() => {
            let mut numbered: Vec<(usize, Value)> =
                numbers.into_iter().zip(parts.drain(..).map(|(_, value)| value)).collect();
            numbered.sort_by_key(|(number, _)| *number);
            numbered.into_iter().map(|(_, value)| value).collect()
        }
        _ => Value::Object(parts.into_iter().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_hold_others() {
        let span = |name: &str, key: &str, kind: &str| {
            let attributes = [(key.to_owned(), json!(kind))].into();
            Span {
                trace: String::new(),
                name: name.to_owned(),
                start: 0,
                end: 0,
                attributes,
                events: Vec::new(),
                failed: false,
                line: 1,
            }
        };
        for (span, expected) in [
            (span("x", "openinference.span.kind", "CHAIN"), true),
            (span("x", "openinference.span.kind", "TOOL"), false),
            (span("x", "traceloop.span.kind", "task"), false),
            (span("x", "mlflow.spanType", "\"AGENT\""), true),
            (span("x", otlp::KIND, "SPAN"), false),
            (span("ai.generateText", "ai.prompt", "{}"), true),
            (span("ai.generateText.doGenerate", "ai.prompt", "{}"), false),
        ] {
            assert_eq!(only_wraps(&span), expected, "{span:?}");
        }
    }

    #[test]
    fn flattened_lists_come_back() {
        let attributes: BTreeMap<String, Value> = [
            ("p.10.role", json!("tool")),
            ("p.2.role", json!("assistant")),
            ("p.2.calls.0.name", json!("f")),
            ("p.2.calls.1.name", json!("g")),
            ("q.0.role", json!("user")),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
        let list = numbered(&attributes, "p.");
        let expected = json!([
            { "role": "assistant", "calls": [{ "name": "f" }, { "name": "g" }] },
            { "role": "tool" },
        ]);
        assert_eq!(Value::from(list), expected);
        assert!(numbered(&attributes, "r.").is_empty());
    }
}
