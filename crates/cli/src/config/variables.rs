use std::cell::LazyCell;

use counterfoil_model::Problem;
use serde_json::Value as Schema;
use toml::{Table, Value};

use super::layer::{Layer, only};
use super::read::read;
use super::schema::{Kind, Node};
use super::unbuilt;
use crate::exit::Complaint;
use crate::suggest::did_you_mean;

/// The prefix of our variables.
const PREFIX: &str = "COUNTERFOIL_";

/// Variables of the installer and the npm package, which are valid but have no effect here.
const OF_PACKAGES: [&str; 5] = [
    "COUNTERFOIL_BASE_URL",
    "COUNTERFOIL_BIN",
    "COUNTERFOIL_PROGRAM",
    "COUNTERFOIL_TARGET",
    "COUNTERFOIL_VERSION",
];

/// Variables that set flags, and are read with them. The linter has no ledger and no state, but the
/// variables may be there for another build.
pub(crate) const OF_FLAGS: &[&str] = &[
    "COUNTERFOIL_BASELINE",
    "COUNTERFOIL_CONFIG",
    "COUNTERFOIL_FAIL_ON",
    "COUNTERFOIL_FORMAT",
    "COUNTERFOIL_LEDGER",
    "COUNTERFOIL_LOG",
    "COUNTERFOIL_SEVERITY",
    "COUNTERFOIL_STATE",
    "COUNTERFOIL_TOOLS",
];

/// Older variable names, each with its key.
const ALIASES: [(&str, [&str; 3]); 2] = [
    ("TOOL_FIXATION_THRESHOLD", ["tools", "fixation", "streak"]),
    ("TOOL_FIXATION_WINDOW", ["tools", "fixation", "window"]),
];

/// Returns the variable of a key: `tools.retry.base_ms` is `COUNTERFOIL_TOOLS_RETRY_BASE_MS`.
fn variable(path: &[&str]) -> String {
    format!("{PREFIX}{}", path.join("_").to_uppercase())
}

/// Returns one layer per variable, and a note about each unknown one. The schema is only generated if another variable is set.
pub(super) fn layers(
    variables: impl IntoIterator<Item = (String, String)>,
    schema: impl FnOnce() -> Schema,
) -> Result<(Vec<Layer>, Vec<String>), Complaint> {
    let schema = LazyCell::new(schema);
    let leaves = LazyCell::new(|| Node::root(&schema).leaves());
    let (mut layers, mut notes) = (Vec::new(), Vec::new());
    for (name, text) in variables {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, path)| path);
        let known = OF_FLAGS.contains(&name.as_str()) || OF_PACKAGES.contains(&name.as_str());
        if alias.is_none() && (!name.starts_with(PREFIX) || known) {
            continue;
        }
        let meant = |path: &[&str]| match alias {
            Some(alias) => path == alias,
            None => variable(path) == name,
        };
        let Some((path, node)) = leaves.iter().find(|(path, _)| meant(path)) else {
            notes.push(unknown(&name, leaves.iter().map(|(path, _)| variable(path))));
            continue;
        };
        let says = value(*node, &text).and_then(|value| check(only(path, value)));
        let says = says.map_err(|wrong| {
            let what = format!("environment variable {name}: {}", wrong.message);
            Complaint::new(what).maybe_help(wrong.help)
        })?;
        layers.push(Layer { name, says });
    }
    layers.sort_by(|a, b| a.name.cmp(&b.name));
    notes.sort();
    Ok((layers, notes))
}

fn unknown(name: &str, keys: impl Iterator<Item = String>) -> String {
    let variable_of = |path: &str| variable(&path.split('.').collect::<Vec<_>>());
    let unbuilt = unbuilt::all().find(|path| {
        let known = variable_of(path);
        name.strip_prefix(&known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    });
    if let Some(path) = unbuilt {
        let advice = unbuilt::advice(path).map(|advice| format!("; {advice}")).unwrap_or_default();
        return format!("environment variable {name} has no effect in this build{advice}");
    }
    let known: Vec<String> = keys.chain(OF_FLAGS.iter().map(|&name| name.to_owned())).collect();
    let help = did_you_mean(name, known.iter().map(String::as_str))
        .unwrap_or_else(|| "docs/configuration.md lists every key".to_owned());
    format!("environment variable {name} matches no configuration key and is ignored; {help}")
}

/// Converts the text of a variable to the type of its key.
fn value(node: Node<'_>, text: &str) -> Result<Value, Problem> {
    let parsed = |text: &str| {
        let line: Result<Table, _> = format!("value = {text}").parse();
        line.ok().filter(|line| line.len() == 1).and_then(|mut line| line.remove("value"))
    };
    match node.kind() {
        Kind::Text => Some(Value::String(text.to_owned())),
        Kind::Array if !text.trim_start().starts_with('[') => {
            let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
            let item = |text: &str| match node.items().map(Node::kind) {
                Some(Kind::Text) => Some(Value::String(text.to_owned())),
                _ => parsed(text),
            };
            texts.map(item).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => parsed(text),
    }
    .ok_or_else(|| {
        let wanted = match node.kind() {
            Kind::Map | Kind::Section => "a table such as `{ name = \"value\" }`",
            Kind::Tables => "an array of tables such as `[{ name = \"value\" }]`",
            Kind::Array => "values separated by commas",
            Kind::Text | Kind::Other => "a value such as 3 or true",
        };
        Problem::at(0, format!("expected {wanted}, got `{text}`"))
    })
}

/// Checks a variable's value like the text of a file.
fn check(says: Table) -> Result<Table, Problem> {
    let text = toml::to_string(&says).map_err(|error| Problem::at(0, error.to_string()))?;
    read(&text)
}
