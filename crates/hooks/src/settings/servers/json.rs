use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use serde_json::Value;

use super::super::SettingsError;
use super::super::brackets::{Brackets, insert, remove, spliced};
use super::super::json::{member, object, parsed};
use super::{Edit, Front, ListedServer, ODD_ARGUMENTS, Reached, otherwise, reached};

pub(super) fn listed(
    text: &str,
    comments: bool,
    keys: &[&str],
) -> Result<Vec<ListedServer>, SettingsError> {
    let root = parsed(text, comments)?;
    let Some(servers) = down(text, &root, keys)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for property in &object(text, servers, &keys.join("."))?.properties {
        let name = property.name.as_str();
        member(text, servers, name)?;
        let reached = match &property.value {
            Node::Object(entry) => read(text, &property.value, entry)?,
            _ => Reached::Otherwise("it is not an object".to_owned()),
        };
        found.push(ListedServer { name: name.to_owned(), reached });
    }
    Ok(found)
}

/// The value at a path of keys.
fn down<'n, 'a>(
    text: &str,
    root: &'n Node<'a>,
    keys: &[&str],
) -> Result<Option<&'n Node<'a>>, SettingsError>
where
    'a: 'n,
{
    let mut node = root;
    for key in keys {
        object(text, node, key)?;
        match member(text, node, key)? {
            Some(inner) => node = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

fn read(text: &str, node: &Node<'_>, entry: &Object<'_>) -> Result<Reached, SettingsError> {
    let Some(command) = member(text, node, "command")? else {
        return Ok(otherwise(entry.properties.iter().map(|property| property.name.as_str())));
    };
    let Node::StringLit(command) = command else {
        return Ok(Reached::Otherwise("its `command` is not a string".to_owned()));
    };
    let arguments = match member(text, node, "args")? {
        None => Some(Vec::new()),
        Some(Node::Array(array)) => texts(array),
        Some(_) => None,
    };
    Ok(match arguments {
        Some(arguments) => reached(&command.value, arguments),
        None => Reached::Otherwise(ODD_ARGUMENTS.to_owned()),
    })
}

fn texts(array: &Array<'_>) -> Option<Vec<String>> {
    let text = |node: &Node<'_>| Some(node.as_string_lit()?.value.clone().into_owned());
    array.elements.iter().map(text).collect()
}

/// Edits one server's entry. Arguments are edited first: they may come after the command or before
/// it, and each edit parses the text again.
pub(super) fn apply(
    text: &str,
    comments: bool,
    keys: &[&str],
    name: &str,
    edit: &Edit,
) -> Result<String, SettingsError> {
    let path: Vec<&str> = keys.iter().copied().chain([name]).collect();
    let root = parsed(text, comments)?;
    let Some(entry) = down(text, &root, &path)? else { return Ok(text.to_owned()) };
    let text = with_front(text, entry, &edit.front)?;
    let root = parsed(&text, comments)?;
    let Some(entry) = down(&text, &root, &path)? else { return Ok(text) };
    let Some(Node::StringLit(command)) = member(&text, entry, "command")? else {
        return Ok(text.clone());
    };
    if command.value == edit.command.as_str() {
        return Ok(text.clone());
    }
    let written = Value::from(edit.command.as_str()).to_string();
    Ok(spliced(&text, command.range.start, command.range.end, &written))
}

fn with_front(text: &str, entry: &Node<'_>, front: &Front) -> Result<String, SettingsError> {
    let arguments = member(text, entry, "args")?;
    Ok(match (front, arguments) {
        (Front::Put(words), None) => match Brackets::from_value(entry) {
            Some(brackets) => insert(text, &brackets, Some("args"), &Value::from(words.clone())),
            None => text.to_owned(),
        },
        (Front::Put(words), Some(Node::Array(array))) => {
            let words: Vec<String> =
                words.iter().map(|word| Value::from(word.as_str()).to_string()).collect();
            let (at, separator) = match array.elements.first() {
                Some(first) => (first.range().start, ", "),
                None => (array.range.start + 1, ""),
            };
            spliced(text, at, at, &format!("{}{separator}", words.join(", ")))
        }
        (Front::Taken { kept }, Some(list @ Node::Array(array))) => {
            let first = array.elements.len().saturating_sub(*kept);
            match (array.elements.first(), array.elements.get(first)) {
                (Some(from), Some(to)) => spliced(text, from.range().start, to.range().start, ""),
                _ => without_arguments(text, entry, list),
            }
        }
        _ => text.to_owned(),
    })
}

/// Removes all arguments.
fn without_arguments(text: &str, entry: &Node<'_>, list: &Node<'_>) -> String {
    let of_entry = entry.as_object().map(|object| &object.properties);
    let at = of_entry.and_then(|all| all.iter().position(|one| one.value.range() == list.range()));
    let removed =
        Brackets::from_value(entry).zip(at).and_then(|(from, at)| remove(text, &from, at));
    removed.unwrap_or_else(|| text.to_owned())
}
