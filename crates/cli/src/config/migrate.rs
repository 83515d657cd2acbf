use toml_edit::{Decor, DocumentMut, Item, Key, RawString, Table, Value};

use crate::exit::Complaint;

/// The keys that moved, with their old and new names.
const MOVED: [Moved; 2] = [
    Moved { from: "max_tool_retries", to: "max_attempts" },
    Moved { from: "max_retry_duration_secs", to: "budget_secs" },
];
const FROM: &str = "agent";
const TO: [&str; 2] = ["tools", "retry"];

struct Moved {
    from: &'static str,
    to: &'static str,
}

/// The result of migrating a configuration file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Migration {
    /// The whole file.
    pub(crate) text: String,
    /// One line per change; empty if there are none.
    pub(crate) changes: Vec<String>,
}

/// Moves keys to their new places, together with their comments. Current text is returned
/// unchanged, byte for byte.
pub(crate) fn migrate(text: &str) -> Result<Migration, Complaint> {
    let mut document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
    let mut taken = Vec::new();
    let mut changes = Vec::new();
    for Moved { from, to } in MOVED {
        let Some(old) = value(&document, &[FROM, from]) else { continue };
        let (from_shown, to_shown) =
            (format!("`[{FROM}].{from}`"), format!("`[{}].{to}`", TO.join(".")));
        let new = value(&document, &[TO[0], TO[1], to]);
        let known = new.is_some();
        match new {
            Some(new) if bare(new) != bare(old) => {
                return Err(Complaint::new(format!(
                    "{from_shown} is {}, but {to_shown} is {}: both names mean the same key",
                    bare(old),
                    bare(new)
                ))
                .help("remove one of the keys, then migrate again"));
            }
            Some(_) => {
                changes.push(format!("{from_shown} is removed: {to_shown} has the same value"))
            }
            None => changes.push(format!("{from_shown} becomes {to_shown}")),
        }
        taken.extend(take(&mut document, from).map(|entry| (to, known, entry)));
    }
    if changes.is_empty() {
        return Ok(Migration { text: text.to_owned(), changes });
    }
    let dropped = drop_if_empty(&mut document);
    let retry = section(&mut document, &dropped)?;
    let mut above = dropped.comments;
    for (name, known, (key, item)) in taken {
        let mut lines = comments(key.leaf_decor().prefix());
        lines.insert_str(0, &std::mem::take(&mut above));
        if known {
            above = lines + &comments(item.as_value().and_then(|value| value.decor().suffix()));
            continue;
        }
        retry.insert(name, item);
        if let Some(mut key) = retry.key_mut(name) {
            key.leaf_decor_mut().set_prefix(lines);
        }
    }
    if !above.is_empty() {
        let decor = retry.decor_mut();
        let before = decor.prefix().and_then(RawString::as_str).unwrap_or("\n").to_owned();
        decor.set_prefix(before + &above);
    }
    let mut migrated = document.to_string();
    if text.contains("\r\n") {
        migrated = migrated.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Ok(Migration { text: migrated, changes })
}

fn syntax(text: &str, error: &toml_edit::TomlError) -> Complaint {
    let line = error
        .span()
        .map_or(1, |span| 1 + text.bytes().take(span.start).filter(|&byte| byte == b'\n').count());
    Complaint::new(format!("line {line}: {}", error.message().trim_end().replace('\n', ", ")))
}

fn value<'d>(document: &'d DocumentMut, path: &[&str]) -> Option<&'d Value> {
    let mut item = document.as_item();
    for key in path {
        item = item.as_table_like()?.get(key)?;
    }
    item.as_value()
}

/// Formats a value without its surrounding text, and a number in its normal form.
fn bare(value: &Value) -> String {
    match value.as_integer() {
        Some(number) => number.to_string(),
        None => value.clone().decorated("", "").to_string(),
    }
}

/// Removes a key from the old section, with its surrounding text.
fn take(document: &mut DocumentMut, name: &str) -> Option<(Key, Item)> {
    let section = document.get_mut(FROM)?;
    if let Some(table) = section.as_table_mut() {
        return table.remove_entry(name);
    }
    let (key, mut value) = section.as_inline_table_mut()?.remove_entry(name)?;
    *value.decor_mut() = Decor::new(" ", "");
    Some((key, Item::Value(value)))
}

/// The remains of a removed section.
#[derive(Default)]
struct Dropped {
    /// The comments around its header, each with its line break.
    comments: String,
    /// The position of the section.
    position: Option<isize>,
}

fn drop_if_empty(document: &mut DocumentMut) -> Dropped {
    let empty = document.get(FROM).and_then(Item::as_table_like).is_some_and(|t| t.is_empty());
    if !empty {
        let position = document.get(FROM).and_then(Item::as_table).and_then(Table::position);
        return Dropped { comments: String::new(), position };
    }
    match document.remove_entry(FROM) {
        Some((_, Item::Table(table))) => Dropped {
            comments: comments(table.decor().prefix()) + &comments(table.decor().suffix()),
            position: table.position(),
        },
        Some((key, item)) => {
            let after = item.as_value().and_then(|value| value.decor().suffix());
            let comments = comments(key.leaf_decor().prefix()) + &comments(after);
            Dropped { comments, position: None }
        }
        None => Dropped::default(),
    }
}

/// Returns the new section, created if missing, as a table with a header if possible.
fn section<'d>(
    document: &'d mut DocumentMut,
    dropped: &Dropped,
) -> Result<&'d mut Table, Complaint> {
    let mut table = document.as_table_mut();
    let mut position = None;
    for (depth, name) in TO.into_iter().enumerate() {
        position = table.position().filter(|_| depth > 0).or(position);
        let last = depth + 1 == TO.len();
        table.entry(name).or_insert_with(|| {
            let mut new = Table::new();
            new.set_implicit(!last);
            new.set_position(position.or(dropped.position));
            Item::Table(new)
        });
        if let Some(Item::Value(Value::InlineTable(inline))) = table.get_mut(name) {
            let inline = std::mem::take(inline).into_table();
            table[name] = Item::Table(inline);
            if let Some(mut key) = table.key_mut(name) {
                key.leaf_decor_mut().clear();
            }
        }
        table = table.get_mut(name).and_then(Item::as_table_mut).ok_or_else(|| {
            let path = TO.get(..=depth).unwrap_or_default().join(".");
            Complaint::new(format!("`{path}` is not a table, so keys cannot be moved into it"))
                .help("remove it: it is not valid configuration")
        })?;
    }
    Ok(table)
}

/// Returns the comments in the text around a key, one line each.
fn comments(around: Option<&RawString>) -> String {
    let text = around.and_then(RawString::as_str).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let once = migrate(text).unwrap();
        assert_eq!(once.text, expected);
        let twice = migrate(&once.text).unwrap();
        assert_eq!(twice, Migration { text: once.text, changes: Vec::new() }, "twice is once");
    }

    #[test]
    fn keys_move_with_their_comments() {
        check(
            "# top\n\n[check]\nfail_on = \"error\"\n\n# about the agent\n[agent] # here\n# \
             tries\nmax_tool_retries = 3  # thrice\nmax_retry_duration_secs = 0x1E\n\n[rules]\n",
            "# top\n\n[check]\nfail_on = \"error\"\n\n[tools.retry]\n# about the agent\n# here\n# \
             tries\nmax_attempts = 3  # thrice\nbudget_secs = 0x1E\n\n[rules]\n",
        );
        check(
            "[agent]\nname = \"x\"\nmax_tool_retries = 3\n\n[rules]\n",
            "[agent]\nname = \"x\"\n\n[tools.retry]\nmax_attempts = 3\n\n[rules]\n",
        );
        check(
            "[tools]\nmax_tool_calls_per_session = 9\n\n[tools.retry]\nbase_ms = 5 # \
             quick\n\n[agent]\nmax_tool_retries = 3 # c\n",
            "[tools]\nmax_tool_calls_per_session = 9\n\n[tools.retry]\nbase_ms = 5 # \
             quick\nmax_attempts = 3 # c\n",
        );
    }

    #[test]
    fn every_way_to_write_a_table_is_understood() {
        check("agent.max_tool_retries = 3 # c\n", "[tools.retry]\nmax_attempts = 3 # c\n");
        check("agent = { max_tool_retries = 3 } # c\n", "[tools.retry]\n# c\nmax_attempts = 3\n");
        check(
            "[tools]\nretry = { base_ms = 5 }\n[agent]\nmax_tool_retries = 3\n",
            "[tools]\n\n[tools.retry]\nbase_ms = 5\nmax_attempts = 3\n",
        );
        check(
            "[tools]\nretry.base_ms = 5\n[agent]\nmax_tool_retries = 3\n",
            "[tools]\nretry.base_ms = 5\nretry.max_attempts = 3\n",
        );
        check("[agent]\r\nmax_tool_retries = 3\r\n", "[tools.retry]\r\nmax_attempts = 3\r\n");
    }

    #[test]
    fn what_is_set_twice_is_set_once_or_refused() {
        check(
            "[agent]\n# old\nmax_tool_retries = 3 # same\n\n[tools.retry]\nmax_attempts = 3\n",
            "\n# old\n# same\n[tools.retry]\nmax_attempts = 3\n",
        );
        let wrong = migrate("[agent]\nmax_tool_retries = 3\n[tools.retry]\nmax_attempts = 2\n");
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "`[agent].max_tool_retries` is 3, but `[tools.retry].max_attempts` is 2: both names \
             mean the same key"
        );
        let wrong = migrate("tools = 3\n[agent]\nmax_tool_retries = 3\n").unwrap_err();
        assert!(wrong.to_string().starts_with("`tools` is not a table"), "{wrong}");
        let wrong = migrate("[agent\n").unwrap_err();
        assert!(wrong.to_string().starts_with("line 1: "), "{wrong}");
    }

    #[test]
    fn what_is_current_stays_byte_by_byte() {
        for text in ["", "\u{feff}[tools]\r\n  # odd\t\n", "[tools.retry]\nmax_attempts=3"] {
            assert_eq!(
                migrate(text).unwrap(),
                Migration { text: text.to_owned(), changes: vec![] }
            );
        }
    }
}
