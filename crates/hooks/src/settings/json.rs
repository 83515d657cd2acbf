//! Settings in JSON, with or without comments.

use counterfoil_model::WrongJson;
use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::brackets::{Brackets, document, insert, line_of, remove, spliced};
use super::command::program_of;
use super::entries::{Entry, ON_FAILURE};
use super::{InstalledHook, SettingsChange, SettingsError, WhenMissing};
use crate::Agent;

type Changed = (String, Vec<SettingsChange>);

pub(super) fn install(
    text: Option<&str>,
    comments: bool,
    agent: Agent,
    entries: &[Entry],
    command: &str,
) -> Result<Changed, SettingsError> {
    let mut text = text.map(str::to_owned);
    let mut changes = Vec::new();
    for entry in entries {
        let event = entry.event;
        let old = text.as_deref().filter(|text| !text.trim().is_empty());
        let Some(old) = old else {
            // A file of white space keeps it; a line break marks its end.
            let before = text.map_or_else(String::new, |blank| blank + "\n");
            let group = entry.group(agent, command);
            text = Some(before + &document("hooks", &json!({ event: [group] })));
            changes.push(SettingsChange::Added { entry: event.to_owned() });
            continue;
        };
        if let Some((new, change)) = place(old, comments, agent, entry, command)? {
            text = Some(new);
            changes.push(change);
        }
    }
    Ok((text.unwrap_or_default(), changes))
}

/// Adds our hook for one event; `None` if it is already there.
fn place(
    text: &str,
    comments: bool,
    agent: Agent,
    entry: &Entry,
    command: &str,
) -> Result<Option<(String, SettingsChange)>, SettingsError> {
    let Entry { event, .. } = *entry;
    let mut handlers = handlers(text, comments, agent)?;
    handlers.retain(|handler| handler.event == event);
    if let Some(handler) = handlers.first() {
        let closes = entry.when_missing == WhenMissing::Blocks && !handler.says_on_failure;
        if handler.command == command && !closes {
            return Ok(None);
        }
        // The later position in the text is edited first.
        let (key, value) = ON_FAILURE;
        let closed = handler.own.as_ref().filter(|_| closes);
        let closed = closed.map(|own| insert(text, own, Some(key), &Value::from(value)));
        let text = closed.as_deref().unwrap_or(text);
        let (start, end) = handler.written;
        let new = spliced(text, start, end, &Value::from(command).to_string());
        let change =
            SettingsChange::Updated { entry: event.to_owned(), from: handler.command.clone() };
        return Ok(Some((new, change)));
    }
    let root = parsed(text, comments)?;
    let added = SettingsChange::Added { entry: event.to_owned() };
    let group = entry.group(agent, command);
    let new = match member(text, &root, "hooks")? {
        None => insert_into(text, &root, Some("hooks"), &json!({ event: [group] })),
        Some(hooks) => {
            object(text, hooks, "hooks")?;
            match member(text, hooks, event)? {
                None => insert_into(text, hooks, Some(event), &json!([group])),
                Some(list @ Node::Array(_)) => insert_into(text, list, None, &group),
                Some(other) => {
                    return Err(shape(text, other, &format!("hooks.{event}"), "a list"));
                }
            }
        }
    };
    Ok(Some((new, added)))
}

pub(super) fn uninstall(
    text: &str,
    comments: bool,
    agent: Agent,
) -> Result<(Option<String>, Vec<SettingsChange>), SettingsError> {
    let mut text = text.to_owned();
    let mut changes = Vec::new();
    loop {
        if text.trim().is_empty() {
            return Ok((Some(text), changes));
        }
        let handlers = handlers(&text, comments, agent)?;
        let Some(handler) = handlers.first() else { return Ok((Some(text), changes)) };
        let removed = SettingsChange::Removed { entry: handler.event.clone() };
        if !changes.contains(&removed) {
            changes.push(removed);
        }
        match handler.without(&text) {
            Some(shorter) => text = shorter,
            None => {
                // The whole object was ours: the file was blank or did not exist.
                let before = text.split_once('{').map_or("", |(before, _)| before);
                let blank = before.strip_suffix('\n').map(str::to_owned);
                return Ok((blank, changes));
            }
        }
    }
}

pub(super) fn installed(
    text: &str,
    comments: bool,
    agent: Agent,
) -> Result<Vec<InstalledHook>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let hook = |handler: Ours| InstalledHook { event: handler.event, command: handler.command };
    Ok(handlers(text, comments, agent)?.into_iter().map(hook).collect())
}

/// A hook of ours, and its position.
struct Ours {
    event: String,
    command: String,
    /// The position of the handler.
    own: Option<Brackets>,
    /// Whether it says what happens if it fails.
    says_on_failure: bool,
    /// The position of the command's literal.
    written: (usize, usize),
    /// The brackets from the root down to it, each with the index of the next one inside it.
    way: Vec<(Brackets, usize)>,
}

impl Ours {
    /// Removes it, together with the brackets that were made for it.
    fn without(&self, text: &str) -> Option<String> {
        let mut up = self.way.iter().rev();
        let (list, at) = up.next()?;
        if list.len() > 1 {
            return remove(text, list, *at);
        }
        // A group without a hook has no effect, so the list and the group are removed with it.
        up.nth(1).into_iter().chain(up).find_map(|(brackets, at)| remove(text, brackets, *at))
    }
}

/// Every hook of ours, in file order.
fn handlers(text: &str, comments: bool, agent: Agent) -> Result<Vec<Ours>, SettingsError> {
    let root = parsed(text, comments)?;
    let root_object = object(text, &root, "")?;
    let mut found = Vec::new();
    let Some(hooks) = member(text, &root, "hooks")? else { return Ok(found) };
    let Some(hooks_at) = root_object.properties.iter().position(|p| p.name.as_str() == "hooks")
    else {
        return Ok(found);
    };
    let events = object(text, hooks, "hooks")?;
    for (event_at, event) in events.properties.iter().enumerate() {
        member(text, hooks, event.name.as_str())?;
        let Node::Array(groups) = &event.value else { continue };
        for (group_at, group) in groups.elements.iter().enumerate() {
            let Node::Object(properties) = group else { continue };
            let list = properties.properties.iter().enumerate();
            let Some((list_at, list)) = list.clone().find(|(_, p)| p.name.as_str() == "hooks")
            else {
                continue;
            };
            let Node::Array(handlers) = &list.value else { continue };
            for (at, handler) in handlers.elements.iter().enumerate() {
                let own = Brackets::from_value(handler);
                let Node::Object(handler) = handler else { continue };
                let Some(command) = handler.get_string("command") else { continue };
                if program_of(agent, &command.value).is_none() {
                    continue;
                }
                let steps = [
                    (&root, hooks_at),
                    (hooks, event_at),
                    (&event.value, group_at),
                    (group, list_at),
                    (&list.value, at),
                ];
                let way =
                    steps.into_iter().filter_map(|(n, at)| Some((Brackets::from_value(n)?, at)));
                found.push(Ours {
                    event: event.name.as_str().to_owned(),
                    command: command.value.clone().into_owned(),
                    own,
                    says_on_failure: handler
                        .properties
                        .iter()
                        .any(|p| p.name.as_str() == ON_FAILURE.0),
                    written: (command.range.start, command.range.end),
                    way: way.collect(),
                });
            }
        }
    }
    Ok(found)
}

fn insert_into(text: &str, node: &Node<'_>, key: Option<&str>, value: &Value) -> String {
    Brackets::from_value(node)
        .map_or_else(|| text.to_owned(), |into| insert(text, &into, key, value))
}

/// Parses the document. Its root is an object.
pub(super) fn parsed(text: &str, comments: bool) -> Result<Node<'_>, SettingsError> {
    if !comments && let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        // The position is reported separately.
        let WrongJson { what, line, .. } = WrongJson::new(&error);
        return Err(SettingsError::Syntax { line: line.max(1), what });
    }
    let strict = ParseOptions {
        allow_comments: comments,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict).map_err(|error| {
        let what = error.kind().to_string().to_lowercase();
        SettingsError::Syntax { line: error.line_display(), what }
    })?;
    let root = parsed.value.ok_or_else(|| SettingsError::Syntax {
        line: line_of(text, text.len()),
        what: "the file contains nothing but comments".to_owned(),
    })?;
    object(text, &root, "").map(|_| ())?;
    Ok(root)
}

pub(super) fn object<'n, 'a>(
    text: &str,
    node: &'n Node<'a>,
    at: &str,
) -> Result<&'n Object<'a>, SettingsError> {
    node.as_object().ok_or_else(|| shape(text, node, at, "an object"))
}

/// A member of an object. It may occur only once.
pub(super) fn member<'n, 'a>(
    text: &str,
    node: &'n Node<'a>,
    key: &str,
) -> Result<Option<&'n Node<'a>>, SettingsError>
where
    'a: 'n,
{
    let Node::Object(object) = node else { return Ok(None) };
    let mut named = object.properties.iter().filter(|property| property.name.as_str() == key);
    let first = named.next();
    match named.next() {
        Some(second) => Err(SettingsError::Twice {
            line: line_of(text, second.range.start),
            key: key.to_owned(),
        }),
        None => Ok(first.map(|property| &property.value)),
    }
}

fn shape(text: &str, node: &Node<'_>, at: &str, expected: &'static str) -> SettingsError {
    let found = match node {
        Node::StringLit(_) => "a string",
        Node::NumberLit(_) => "a number",
        Node::BooleanLit(_) => "a boolean",
        Node::Object(_) => "an object",
        Node::Array(_) => "a list",
        Node::NullKeyword(_) => "null",
    };
    let at = if at.is_empty() { "the file".to_owned() } else { format!("`{at}`") };
    SettingsError::Shape { line: line_of(text, node.range().start), at, found, expected }
}
