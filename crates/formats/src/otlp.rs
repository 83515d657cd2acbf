//! Reads spans from OTLP JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::time;

/// One span, with its attributes as plain JSON.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) name: String,
    /// Nanoseconds since the Unix epoch; 0 when unknown.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) events: Vec<Event>,
    /// Status code ERROR.
    pub(crate) failed: bool,
    pub(crate) line: usize,
}

/// One event of a span.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) time: u64,
    pub(crate) attributes: BTreeMap<String, Value>,
}

/// Adds the spans of an export (`{resourceSpans: [{scopeSpans: [{spans}]}]}`), of a list of
/// exports, or a single span. Returns `false` if the value is none of these.
pub(crate) fn spans(value: Value, line: usize, found: &mut Vec<Span>) -> bool {
    let Value::Object(mut object) = value else {
        let Value::Array(list) = value else { return false };
        // Nested lists are not exports: one level is enough.
        return list
            .into_iter()
            .map(|value| value.is_object() && spans(value, line, found))
            .fold(false, |any, one| any | one);
    };
    if let Some(resources) = take_list(&mut object, &["resourceSpans", "resource_spans"]) {
        for mut resource in resources.into_iter().filter_map(into_object) {
            let scopes = ["scopeSpans", "scope_spans", "instrumentationLibrarySpans"];
            for mut scope in take_list(&mut resource, &scopes)
                .unwrap_or_default()
                .into_iter()
                .filter_map(into_object)
            {
                let list = take_list(&mut scope, &["spans"]).unwrap_or_default();
                found.extend(list.into_iter().filter_map(into_object).map(|s| span(s, line)));
            }
        }
        return true;
    }
    // A trace exported by MLflow or Langfuse.
    if let Some(Value::Object(data)) = object.get_mut("data")
        && let Some(list) = take_list(data, &["spans"])
    {
        found.extend(list.into_iter().filter_map(into_object).map(|s| span(s, line)));
        return true;
    }
    if let Some(list) = take_list(&mut object, &["observations"]) {
        found.extend(list.into_iter().filter_map(into_object).map(|o| observation(o, line)));
        return true;
    }
    let context = object.get("context").and_then(|context| context.get("trace_id"));
    if object.contains_key("traceId") || object.contains_key("trace_id") || context.is_some() {
        found.push(span(object, line));
        return true;
    }
    false
}

/// Converts an observation of Langfuse, whose input and output are members, to a span.
fn observation(mut object: Map<String, Value>, line: usize) -> Span {
    let mut attributes = BTreeMap::new();
    for (name, key) in [("type", KIND), ("name", NAME), ("input", INPUT), ("output", OUTPUT)] {
        if let Some(value) = object.remove(name).filter(|value| !value.is_null()) {
            attributes.insert(key.to_owned(), value);
        }
    }
    let failed = object.get("level").is_some_and(|level| level == "ERROR");
    Span {
        trace: text(&object, &["traceId", "trace_id"]),
        name: attributes.get(NAME).and_then(Value::as_str).unwrap_or_default().to_owned(),
        start: nanos(&object, &["startTime", "start_time"]),
        end: nanos(&object, &["endTime", "end_time"]),
        attributes,
        events: Vec::new(),
        failed,
        line,
    }
}

/// Attribute keys that [`observation`] sets.
pub(crate) const KIND: &str = "langfuse.type";
pub(crate) const NAME: &str = "langfuse.name";
pub(crate) const INPUT: &str = "langfuse.input";
pub(crate) const OUTPUT: &str = "langfuse.output";

fn span(mut object: Map<String, Value>, line: usize) -> Span {
    let events = take_list(&mut object, &["events"]).unwrap_or_default();
    let status = object.get("status");
    let status = status.and_then(|status| status.get("code").or_else(|| status.get("status_code")));
    let failed = status
        .is_some_and(|code| code == 2 || code.as_str().is_some_and(|code| code.ends_with("ERROR")));
    Span {
        trace: text(
            object.get("context").and_then(Value::as_object).unwrap_or(&object),
            &["traceId", "trace_id"],
        ),
        name: text(&object, &["name"]),
        start: nanos(&object, &["startTimeUnixNano", "start_time_unix_nano", "start_time"]),
        end: nanos(&object, &["endTimeUnixNano", "end_time_unix_nano", "end_time"]),
        attributes: attributes(&mut object),
        events: events.into_iter().filter_map(into_object).map(event).collect(),
        failed,
        line,
    }
}

fn event(mut object: Map<String, Value>) -> Event {
    Event {
        name: text(&object, &["name"]),
        time: nanos(&object, &["timeUnixNano", "time_unix_nano"]),
        attributes: attributes(&mut object),
    }
}

/// `[{key, value: {stringValue}}]` (or a plain object) as plain JSON.
fn attributes(object: &mut Map<String, Value>) -> BTreeMap<String, Value> {
    match object.remove("attributes") {
        Some(Value::Array(list)) => list.into_iter().filter_map(pair).collect(),
        Some(Value::Object(plain)) => plain.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

fn pair(value: Value) -> Option<(String, Value)> {
    let mut object = into_object(value)?;
    let Some(Value::String(key)) = object.remove("key") else { return None };
    Some((key, plain(object.remove("value")?)))
}

/// An `AnyValue` as plain JSON. The parser already bounds its depth.
fn plain(value: Value) -> Value {
    let Value::Object(object) = value else { return value };
    let Some((kind, inner)) = object.into_iter().next() else { return Value::Null };
    let list = |inner: Value| match inner {
        Value::Object(mut object) => take_list(&mut object, &["values"]).unwrap_or_default(),
        _ => Vec::new(),
    };
    match kind.as_str() {
        "intValue" => {
            let number = inner.as_str().and_then(|digits| digits.parse::<i64>().ok());
            number.map_or(inner, Value::from)
        }
        "arrayValue" => list(inner).into_iter().map(plain).collect(),
        "kvlistValue" => Value::Object(list(inner).into_iter().filter_map(pair).collect()),
        _ => inner,
    }
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(object) = value { Some(object) } else { None }
}

fn take_list(object: &mut Map<String, Value>, names: &[&str]) -> Option<Vec<Value>> {
    let Some(Value::Array(list)) = names.iter().find_map(|name| object.remove(*name)) else {
        return None;
    };
    Some(list)
}

fn text(object: &Map<String, Value>, names: &[&str]) -> String {
    let found = names.iter().find_map(|name| object.get(*name)?.as_str());
    found.unwrap_or_default().to_owned()
}

/// A time in nanoseconds. In JSON, 64-bit numbers should be strings, but not every exporter
/// complies.
fn nanos(object: &Map<String, Value>, names: &[&str]) -> u64 {
    let found = names.iter().find_map(|name| object.get(*name));
    found.and_then(|v| v.as_u64().or_else(|| nanos_of(v.as_str()?))).unwrap_or(0)
}

/// Nanoseconds from a number, or from a date and time.
fn nanos_of(text: &str) -> Option<u64> {
    if let Ok(nanos) = text.parse() {
        return Some(nanos);
    }
    u64::try_from(time::millis_of(text)?).ok()?.checked_mul(1_000_000)
}
