use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

use super::super::SettingsError;
use super::super::toml::{parsed, shape, written};
use super::{Edit, Front, ListedServer, ODD_ARGUMENTS, Reached, otherwise, reached};

pub(super) fn listed(text: &str, keys: &[&str]) -> Result<Vec<ListedServer>, SettingsError> {
    let mut document = parsed(text)?;
    let Some(servers) = down(text, &mut document, keys)? else { return Ok(Vec::new()) };
    let server = |(name, item): (&str, &Item)| {
        let reached = item.as_table_like().map_or_else(
            || Reached::Otherwise("it is not a table".to_owned()),
            |entry| {
                let Some(command) = entry.get("command") else {
                    return otherwise(entry.iter().map(|(key, _)| key));
                };
                let arguments = match entry.get("args") {
                    None => Some(Vec::new()),
                    Some(item) => item.as_array().and_then(texts),
                };
                match (command.as_str(), arguments) {
                    (Some(command), Some(arguments)) => reached(command, arguments),
                    (None, _) => Reached::Otherwise("its `command` is not a string".to_owned()),
                    (_, None) => Reached::Otherwise(ODD_ARGUMENTS.to_owned()),
                }
            },
        );
        ListedServer { name: name.to_owned(), reached }
    };
    Ok(servers.iter().map(server).collect())
}

fn down<'d>(
    text: &str,
    document: &'d mut DocumentMut,
    keys: &[&str],
) -> Result<Option<&'d mut dyn TableLike>, SettingsError> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in keys {
        let Some(item) = table.get_mut(key) else { return Ok(None) };
        if !item.is_table_like() {
            return Err(shape(text, &keys.join("."), item, "a table"));
        }
        match item.as_table_like_mut() {
            Some(inner) => table = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(table))
}

fn texts(array: &Array) -> Option<Vec<String>> {
    array.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Edits one server's entry.
pub(super) fn apply(
    text: &str,
    keys: &[&str],
    name: &str,
    edit: &Edit,
) -> Result<String, SettingsError> {
    let mut document = parsed(text)?;
    let servers = down(text, &mut document, keys)?;
    let entry = servers.and_then(|servers| servers.get_mut(name)?.as_table_like_mut());
    let Some(entry) = entry else { return Ok(text.to_owned()) };
    let before = entry.get("command").and_then(Item::as_str).unwrap_or_default();
    if before == edit.command && matches!(edit.front, Front::Stays) {
        return Ok(text.to_owned());
    }
    if let Some(Item::Value(command)) = entry.get_mut("command") {
        let decor = command.decor().clone();
        *command = Value::from(edit.command.as_str());
        *command.decor_mut() = decor;
    }
    match (&edit.front, entry.get_mut("args").and_then(Item::as_array_mut)) {
        (Front::Put(words), None) => {
            let words: Array = words.iter().map(String::as_str).collect();
            entry.insert("args", Item::Value(Value::Array(words)));
        }
        (Front::Put(words), Some(array)) => put(array, words),
        (Front::Taken { kept: 0 }, _) => {
            entry.remove("args");
        }
        (Front::Taken { kept }, Some(array)) => take(array, *kept),
        _ => {}
    }
    Ok(written(text, &document))
}

/// Inserts words at the front. The first one takes the white space of the previous first element,
/// which gets a single space.
fn put(array: &mut Array, words: &[String]) {
    let first = array.get(0).map(|value| value.decor().clone());
    if let Some(value) = array.get_mut(0) {
        value.decor_mut().set_prefix(" ");
    }
    for (at, word) in words.iter().enumerate() {
        let mut value = Value::from(word.as_str());
        match (at, &first) {
            (0, Some(decor)) => *value.decor_mut() = decor.clone(),
            (0, None) => {}
            _ => value.decor_mut().set_prefix(" "),
        }
        array.insert_formatted(at, value);
    }
}

/// Removes all but the last `kept` words. The new first element takes the white space of the
/// removed one.
fn take(array: &mut Array, kept: usize) {
    let first = array.get(0).and_then(|value| value.decor().prefix().cloned());
    for _ in kept..array.len() {
        array.remove(0);
    }
    if let (Some(value), Some(prefix)) = (array.get_mut(0), first) {
        value.decor_mut().set_prefix(prefix);
    }
}
