use counterfoil_model::ToolCall;
use counterfoil_providers::Stop;
use serde_json::Value;

/// Writes events for the client in place of a server's, so that both together form one stream.
pub(crate) trait Writer: Send + Sync {
    /// Reads an event of the server, whether or not it is passed on.
    fn learn(&mut self, event: &Value);

    /// Records an event that the client gets unchanged.
    fn given(&mut self, event: &Value);

    /// Whether an event ends the answer.
    fn closes(&self, event: &Value) -> bool;

    /// Whether an event begins or continues a call for the client.
    fn is_call(&self, event: &Value) -> bool;

    /// Writes words.
    fn text(&mut self, text: &str) -> String;

    /// Writes complete calls. `kept` are items of other kinds, which may contain a call in its
    /// original form.
    fn calls(&mut self, calls: &[ToolCall], kept: &[Value]) -> String;

    /// Writes a refusal, for answers that must have a given format.
    fn refusal(&mut self, text: &str) -> String;

    /// Writes the end.
    fn end(&mut self, stop: Stop) -> String;
}

/// An event with its name.
pub(super) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

pub(super) fn kind_of(value: &Value) -> &str {
    text_of(value, "type")
}

pub(super) fn text_of<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn index_of(value: &Value, name: &str) -> Option<usize> {
    value.get(name).and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok())
}
