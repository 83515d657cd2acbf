use toml::{Table, Value};
use toml_edit::Key;

use super::find::Configuration;
use super::schema::{Kind, Node, schema};

/// The width at which an array is split over several lines.
const WIDTH: usize = 100;

/// Formats the values in force as TOML, with where each is set. Keys that are not set are comments.
pub(crate) fn show(configuration: &Configuration) -> anyhow::Result<String> {
    let table = Table::try_from(&configuration.options)?;
    let mut blocks = Vec::new();
    section(configuration, &table, &mut Vec::new(), Node::root(&schema()), &mut blocks);
    let files: String =
        configuration.files.iter().map(|file| format!("# {}\n", file.display())).collect();
    Ok(files + &blocks.join("\n"))
}

/// Adds the blocks of a section: its own keys, then its subsections.
fn section<'s>(
    configuration: &Configuration,
    table: &Table,
    path: &mut Vec<&'s str>,
    node: Node<'s>,
    blocks: &mut Vec<String>,
) {
    let (mut own, mut below) = (String::new(), Vec::new());
    for (key, inner) in node.keys() {
        path.push(key);
        let origin = configuration.source_of(path).map(|origin| format!("  # {origin}"));
        let origin = origin.unwrap_or_default();
        match (inner.kind(), table.get(key)) {
            (Kind::Section, Some(Value::Table(table))) => {
                section(configuration, table, path, inner, &mut below);
            }
            (Kind::Map, Some(Value::Table(map))) => {
                below.push(format!("[{}]{origin}\n{}", path.join("."), entries(map)));
            }
            (Kind::Tables, Some(Value::Array(tables))) if !tables.is_empty() => {
                below.extend(
                    tables
                        .iter()
                        .filter_map(Value::as_table)
                        .map(|table| format!("[[{}]]{origin}\n{}", path.join("."), entries(table))),
                );
            }
            (_, Some(value)) => own += &format!("{}{origin}\n", line(key, value)),
            (_, None) => own += &format!("# {key} is not set\n"),
        }
        path.pop();
    }
    if !own.is_empty() {
        // Top-level keys come before all sections.
        let header =
            if path.is_empty() { String::new() } else { format!("[{}]\n", path.join(".")) };
        blocks.push(format!("{header}{own}"));
    }
    blocks.append(&mut below);
}

fn entries(table: &Table) -> String {
    table.iter().map(|(key, value)| line(key, value) + "\n").collect()
}

fn line(key: &str, value: &Value) -> String {
    let key = Key::new(key);
    let line = format!("{key} = {value}");
    let Value::Array(items) = value else { return line };
    if line.len() <= WIDTH {
        return line;
    }
    let mut text = format!("{key} = [");
    let mut column = WIDTH;
    for item in items {
        let item = format!("{item},");
        if column + 1 + item.len() > WIDTH {
            text += "\n ";
            column = 1;
        }
        column += 1 + item.len();
        text = text + " " + &item;
    }
    text + "\n]"
}
