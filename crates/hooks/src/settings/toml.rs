//! Settings in TOML: Codex's `config.toml`, if its user keeps hooks there.

use serde_json::Value as Json;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value,
};

use super::command::program_of;
use super::entries::Entry;
use super::{InstalledHook, SettingsChange, SettingsError};
use crate::Agent;

pub(super) fn install(
    text: &str,
    agent: Agent,
    entries: &[Entry],
    command: &str,
) -> Result<(String, Vec<SettingsChange>), SettingsError> {
    let mut document = parsed(text)?;
    let mut changes = Vec::new();
    let hooks = document.entry("hooks").or_insert_with(implicit);
    let Some(hooks) = hooks.as_table_like_mut() else {
        return Err(shape(text, "hooks", hooks, "a table"));
    };
    for entry in entries {
        let event = entry.event;
        let group = entry.group(agent, command);
        let list = hooks.entry(event).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        match own(list, agent) {
            Some(from) if from == command => {}
            Some(from) => {
                rewrite(list, agent, command);
                changes.push(SettingsChange::Updated { entry: event.to_owned(), from });
            }
            None => {
                match list {
                    Item::ArrayOfTables(groups) => groups.push(table(&group)),
                    Item::Value(Value::Array(groups)) => groups.push(inline(&group)),
                    other => {
                        return Err(shape(text, &format!("hooks.{event}"), other, "a list"));
                    }
                }
                changes.push(SettingsChange::Added { entry: event.to_owned() });
            }
        }
    }
    Ok((if changes.is_empty() { text.to_owned() } else { written(text, &document) }, changes))
}

pub(super) fn uninstall(
    text: &str,
    agent: Agent,
) -> Result<(Option<String>, Vec<SettingsChange>), SettingsError> {
    let mut document = parsed(text)?;
    let mut changes = Vec::new();
    if let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_like_mut) {
        let events: Vec<String> = hooks.iter().map(|(event, _)| event.to_owned()).collect();
        for event in events {
            let Some(list) = hooks.get_mut(&event) else { continue };
            if own(list, agent).is_none() {
                continue;
            }
            take_out(list, agent);
            if list.as_array_of_tables().is_some_and(ArrayOfTables::is_empty) {
                hooks.remove(&event);
            }
            changes.push(SettingsChange::Removed { entry: event });
        }
    }
    let ours = document.get("hooks").and_then(Item::as_table);
    if ours.is_some_and(|hooks| hooks.is_implicit() && hooks.is_empty()) {
        document.remove("hooks");
    }
    Ok((Some(if changes.is_empty() { text.to_owned() } else { written(text, &document) }), changes))
}

pub(super) fn installed(text: &str, agent: Agent) -> Result<Vec<InstalledHook>, SettingsError> {
    let document = parsed(text)?;
    let Some(hooks) = document.get("hooks").and_then(Item::as_table_like) else {
        return Ok(Vec::new());
    };
    let ours = hooks.iter().filter_map(|(event, list)| {
        Some(InstalledHook { event: event.to_owned(), command: own(list, agent)? })
    });
    Ok(ours.collect())
}

/// Whether this file has hooks, ours or others'.
pub(super) fn has_hooks(text: &str) -> Result<bool, SettingsError> {
    let document = parsed(text)?;
    let hooks = document.get("hooks").and_then(Item::as_table_like);
    // Codex keeps its trust decisions in a table next to the events.
    Ok(hooks.is_some_and(|hooks| hooks.iter().any(|(key, _)| key != "state")))
}

/// Our hook's command in an event's list.
fn own(list: &Item, agent: Agent) -> Option<String> {
    rows(list).into_iter().find_map(|group| {
        rows(group.get("hooks")?).into_iter().find_map(|handler| own_command(handler, agent))
    })
}

fn own_command(handler: &dyn TableLike, agent: Agent) -> Option<String> {
    let command = handler.get("command")?.as_str()?;
    program_of(agent, command).map(|_| command.to_owned())
}

fn rewrite(list: &mut Item, agent: Agent, command: &str) {
    for group in rows_mut(list) {
        for handler in group.get_mut("hooks").map(rows_mut).unwrap_or_default() {
            if own_command(handler, agent).is_some()
                && let Some(value) = handler.get_mut("command").and_then(Item::as_value_mut)
            {
                let decor = value.decor().clone();
                *value = Value::from(command);
                *value.decor_mut() = decor;
            }
        }
    }
}

/// Removes our hooks from a list, and groups that become empty.
fn take_out(list: &mut Item, agent: Agent) {
    let is_ours = |handler: &dyn TableLike| own_command(handler, agent).is_some();
    let only_ours = |group: &dyn TableLike| {
        let handlers = group.get("hooks").map(rows).unwrap_or_default();
        !handlers.is_empty() && handlers.into_iter().all(is_ours)
    };
    retain(list, &|group| !only_ours(group));
    for group in rows_mut(list) {
        if let Some(handlers) = group.get_mut("hooks") {
            retain(handlers, &|handler| !is_ours(handler));
        }
    }
}

fn retain(list: &mut Item, keep: &dyn Fn(&dyn TableLike) -> bool) {
    match list {
        Item::ArrayOfTables(tables) => tables.retain(|table| keep(table)),
        Item::Value(Value::Array(array)) => {
            array.retain(|value| value.as_inline_table().is_none_or(|table| keep(table)));
        }
        _ => {}
    }
}

fn rows(list: &Item) -> Vec<&dyn TableLike> {
    match list {
        Item::ArrayOfTables(tables) => tables.iter().map(|t| t as &dyn TableLike).collect(),
        Item::Value(Value::Array(array)) => array
            .iter()
            .filter_map(|value| value.as_inline_table().map(|t| t as &dyn TableLike))
            .collect(),
        _ => Vec::new(),
    }
}

fn rows_mut(list: &mut Item) -> Vec<&mut dyn TableLike> {
    match list {
        Item::ArrayOfTables(tables) => tables.iter_mut().map(|t| t as &mut dyn TableLike).collect(),
        Item::Value(Value::Array(array)) => array
            .iter_mut()
            .filter_map(|value| value.as_inline_table_mut().map(|t| t as &mut dyn TableLike))
            .collect(),
        _ => Vec::new(),
    }
}

/// A group, as `[[hooks.EVENT]]` and `[[hooks.EVENT.hooks]]`.
fn table(group: &Json) -> Table {
    let mut table = Table::new();
    for (key, value) in group.as_object().into_iter().flatten() {
        let item = match value.as_array() {
            Some(handlers) => Item::ArrayOfTables(handlers.iter().map(self::table).collect()),
            None => Item::Value(scalar(value)),
        };
        table.insert(key, item);
    }
    table
}

fn inline(group: &Json) -> InlineTable {
    let members = group.as_object().into_iter().flatten();
    members
        .map(|(key, value)| {
            let value = match value.as_array() {
                Some(handlers) => Value::Array(handlers.iter().map(inline).collect::<Array>()),
                None => scalar(value),
            };
            (key.as_str(), value)
        })
        .collect()
}

fn scalar(value: &Json) -> Value {
    match value.as_i64() {
        Some(number) => Value::from(number),
        None => Value::from(value.as_str().unwrap_or_default()),
    }
}

fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

pub(super) fn parsed(text: &str) -> Result<DocumentMut, SettingsError> {
    text.parse().map_err(|error: TomlError| SettingsError::Syntax {
        line: line(text, error.span().map_or(0, |span| span.start)),
        what: error.message().trim_end().replace('\n', ", "),
    })
}

/// Writes the document with the line breaks of the original text, which may lack the last one: the
/// library writes its own.
pub(super) fn written(before: &str, document: &DocumentMut) -> String {
    let mut text = document.to_string();
    if !before.is_empty() && !before.ends_with('\n') && text.ends_with('\n') {
        text.pop();
    }
    if before.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

/// Positions are lost in an edited document, so the key is searched for in the original text.
pub(super) fn shape(text: &str, at: &str, item: &Item, expected: &'static str) -> SettingsError {
    let key = at.rsplit('.').next().unwrap_or(at);
    let found = match item.type_name() {
        "string" => "a string",
        "array" => "a list",
        "inline table" | "table" => "a table",
        "array of tables" => "a list of tables",
        _ => "a single value",
    };
    let place = text.find(key).unwrap_or(0);
    SettingsError::Shape { line: line(text, place), at: format!("`{at}`"), found, expected }
}

fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}
