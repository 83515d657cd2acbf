//! Calls that a model writes into its text, where some clients read and make them.

use counterfoil_model::ToolCall;
use serde_json::{Map, Value};

use crate::plain::rows;

/// A call in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spoken {
    pub(crate) tool: String,
    /// The call; `None` if its arguments cannot be read.
    pub(crate) call: Option<ToolCall>,
    /// Whether the whole text is JSON that does not name the tool as a call does: it may be data.
    pub(crate) is_data: bool,
}

/// The maximum number of arguments of a call.
const MOST_ARGUMENTS: usize = 100;

/// The maximum length of the beginning of a call in any form, in bytes.
const LONGEST_BEGINNING: usize = 64;

/// Whether a call may begin in a text, of which `looked` bytes were checked before.
pub(crate) fn may_call(text: &str, looked: usize) -> bool {
    let mut from = looked.saturating_sub(LONGEST_BEGINNING).min(text.len());
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let new = text.get(from..).unwrap_or_default();
    is_object(text) || rows("call").any(|row| new.contains(begin(row)))
}

/// Finds calls of these tools in a text.
pub(crate) fn calls(text: &str, tools: &[&str]) -> Vec<Spoken> {
    let mut found = Vec::new();
    let whole = is_object(text).then_some(text);
    let forms = rows("call").flat_map(|row| bodies(text, row));
    for (body, formal) in
        whole.map(|body| (body, true)).into_iter().chain(forms.map(|b| (b, false)))
    {
        let named = tools.iter().filter(|tool| names(body, tool));
        // `cancel_order` takes precedence over `order`.
        let Some(tool) = named.max_by_key(|tool| tool.len()) else { continue };
        let is_data = formal && object(body).is_none_or(|object| call_in(&object, tool).is_none());
        let arguments = arguments(body, tool);
        if is_data && arguments.is_none() {
            // Any answer may be JSON.
            continue;
        }
        let call = arguments
            .map(|arguments| ToolCall::new("", *tool, Value::Object(arguments).to_string()));
        found.push(Spoken { tool: (*tool).to_owned(), call, is_data });
    }
    found
}

fn begin(row: &str) -> &str {
    row.split_once(' ').map_or(row, |(begin, _)| begin)
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// The parts of a text between the beginnings and ends of a form.
fn bodies<'t>(text: &'t str, row: &'static str) -> Vec<&'t str> {
    let (begin, end) = row.split_once(' ').unwrap_or((row, ""));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once(begin) {
        let (body, after) = match end {
            "" => (inside, ""),
            end => inside.split_once(end).unwrap_or((inside, "")),
        };
        found.push(body);
        rest = after;
    }
    found
}

/// Whether a text contains a tool's name that is not part of a longer name.
fn names(text: &str, tool: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(tool).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + tool.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// The arguments of a call, written as JSON, as tags or as in Python.
fn arguments(body: &str, tool: &str) -> Option<Map<String, Value>> {
    let (_, after) = body.split_once(tool)?;
    if let Some(python) = after.trim_start().strip_prefix('(') {
        return keywords(python);
    }
    if let Some(object) = object(body) {
        return in_object(object, tool);
    }
    let tags = tagged(after)?;
    (!tags.is_empty() || after.trim_matches([' ', '"', '>', '\n', '\'', '/']).is_empty())
        .then_some(tags)
}

/// The first object in a text.
fn object(text: &str) -> Option<Map<String, Value>> {
    let from = text.get(text.find('{')?..)?;
    let mut values = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Value>>();
    values.next()?.ok()
}

/// Members with the arguments of a call.
const GIVEN: [&str; 6] = ["arguments", "args", "input", "kwargs", "action_input", "parameters"];

/// The object that names the tool: `{"name": …, "arguments": {…}}` in its variants, alone or within
/// others.
fn call_in<'o>(object: &'o Map<String, Value>, tool: &str) -> Option<&'o Map<String, Value>> {
    let wrapped = ["function", "tool_call", "call"].iter().map(|name| object.get(*name));
    let wrapped = wrapped.filter_map(|inner| inner?.as_object());
    if let Some(members) = [object].into_iter().chain(wrapped).find(|one| names_tool(one, tool)) {
        return Some(members);
    }
    let mut open: Vec<&Value> = object.values().collect();
    while let Some(value) = open.pop() {
        match value {
            // A list of tools has names and parameters, too.
            Value::Object(inner)
                if names_tool(inner, tool)
                    && GIVEN
                        .iter()
                        .any(|name| *name != "parameters" && inner.contains_key(*name)) =>
            {
                return Some(inner);
            }
            Value::Object(inner) => open.extend(inner.values()),
            Value::Array(entries) => open.extend(entries),
            _ => {}
        }
    }
    None
}

fn names_tool(object: &Map<String, Value>, tool: &str) -> bool {
    let is_name = |name: &&str| object.get(*name).and_then(Value::as_str) == Some(tool);
    ["name", "tool", "tool_name", "function", "action"].iter().any(is_name)
}

/// The arguments in an object. An object without a name is the arguments. `None` if they cannot be
/// read, or are given twice.
fn in_object(object: Map<String, Value>, tool: &str) -> Option<Map<String, Value>> {
    let Some(members) = call_in(&object, tool) else { return Some(object) };
    let mut given = GIVEN.iter().filter_map(|name| members.get(*name));
    let first = given.next();
    if given.any(|other| Some(other) != first) {
        return None;
    }
    match first {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(arguments)) => Some(arguments.clone()),
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        Some(_) => None,
    }
}

/// `<parameter name="id">7</parameter>`, `<parameter=id>7</parameter>`, `<id>7</id>`,
/// `<arg_key>id</arg_key><arg_value>7</arg_value>`; `None` if a name occurs twice.
fn tagged(text: &str) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    let mut rest = text;
    let mut key = None;
    while let Some((_, inside)) = rest.split_once('<').filter(|_| found.len() < MOST_ARGUMENTS) {
        let Some((tag, after)) = inside.split_once('>') else { break };
        rest = after;
        if tag.starts_with('/') {
            continue;
        }
        let Some((value, following)) = after.split_once("</") else { break };
        rest = following;
        let name = match (tag.split_once("name="), tag) {
            (_, "arg_key") => {
                key = Some(value.trim());
                continue;
            }
            (_, "arg_value") => key.take(),
            (Some((_, name)), _) => name.split(' ').next(),
            (None, tag) => tag.rsplit(['=', ' ']).next(),
        };
        let name = name.unwrap_or(tag).trim_matches(['"', '\'']);
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        if found.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(found)
}

/// `id=7, why="x")`: arguments with literal values.
fn keywords(text: &str) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    let mut rest = text.trim_start();
    while !rest.starts_with(')') {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = literal(after.trim_start())?;
        found.insert(name.trim().to_owned(), value);
        let after = after.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
        if !rest.starts_with(')') && !after.starts_with(',') {
            return None;
        }
    }
    Some(found)
}

/// A Python literal, and the text after it.
fn literal(text: &str) -> Option<(Value, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inside = text.get(1..)?;
        let (value, after) = inside.split_once(quote).filter(|(value, _)| !value.contains('\\'))?;
        return Some((Value::from(value), after));
    }
    let end = text.find([',', ')'])?;
    let (value, after) = text.split_at_checked(end)?;
    let value = match value.trim() {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        "None" => Value::Null,
        value => serde_json::from_str(value).ok()?,
    };
    Some((value, after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_in_every_known_form() {
        let tools = ["order", "cancel_order"];
        let seven = Some(json!({ "id": 7 }));
        for (text, expected) in [
            (
                r#"<tool_call>{"name": "cancel_order", "arguments": {"id": 7}}</tool_call>"#,
                seven.clone(),
            ),
            (r#"<tool_call>{"name": "cancel_order", "arguments": "{\"id\": 7}"}"#, seven.clone()),
            (
                r#"Now: [TOOL_CALLS][{"name": "cancel_order", "arguments": {"id": 7}}]"#,
                seven.clone(),
            ),
            (r#"{"name": "cancel_order", "parameters": {"id": 7}}"#, seven.clone()),
            (r#"{"function": {}, "name": "cancel_order", "arguments": {"id": 7}}"#, seven.clone()),
            (
                r#"{"tool_calls": [{"function": {"name": "cancel_order", "arguments": {"id": 7}}}]}"#,
                seven.clone(),
            ),
            (r#"{"name": "cancel_order", "arguments": {"id": 7}, "parameters": {"id": 8}}"#, None),
            (r#"<function=cancel_order>{"id": 7}</function>"#, seven.clone()),
            ("<function=cancel_order><parameter=id>7</parameter></function>", seven.clone()),
            (
                r#"<invoke name="cancel_order"><parameter name="id">7</parameter></invoke>"#,
                seven.clone(),
            ),
            (
                r#"<invoke name="cancel_order"><parameter name="id" string="false">7</parameter></invoke>"#,
                seven.clone(),
            ),
            (
                "<tool_call>cancel_order\n<arg_key>id</arg_key>\n<arg_value>7</arg_value></tool_call>",
                seven.clone(),
            ),
            ("<function=cancel_order><id>7</id><id>8</id></function>", None),
            (
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>cancel_order\n```json\n{\"id\": 7}\n```<｜tool▁call▁end｜>",
                seven.clone(),
            ),
            ("```tool_code\nprint(default_api.cancel_order(id=7))\n```", seven.clone()),
            ("```tool_code\ncancel_order( id = 7, )\n```", seven.clone()),
            (
                r#"<|python_tag|>{"type": "function", "function": {"name": "cancel_order", "arguments": {"id": 7}}}"#,
                seven,
            ),
            ("```tool_code\ncancel_order(id=x)\n```", None),
        ] {
            assert!(may_call(text, 0) && may_call(text, text.len().min(40)), "{text}");
            let found = calls(text, &tools);
            let [Spoken { tool, call, .. }] = found.as_slice() else { panic!("{text} {found:?}") };
            let arguments =
                call.as_ref().map(|call| serde_json::from_str(call.arguments.as_str()).unwrap());
            assert_eq!((tool.as_str(), arguments), ("cancel_order", expected), "{text}");
        }
    }

    #[test]
    fn a_text_without_a_call_is_read_quickly() {
        let tools = ["order", "cancel_order"];
        for part in ["<a>", "<tool_call>cancel_order<a>", "{\"a\":", "cancel_order("] {
            let _calls = calls(&part.repeat(50_000 / part.len()), &tools);
        }
        for text in [
            "I would call `cancel_order` with id 7.",
            "```json\n{\"name\": \"cancel_order\"}\n```",
            "<tool_call>{\"name\": \"refund\", \"arguments\": {}}</tool_call>",
            "{\"answer\": \"cancel_order was not called\", \"id\": [",
        ] {
            assert_eq!(calls(text, &tools), [], "{text}");
        }
    }
}
