use std::path::PathBuf;

use counterfoil_formats::read_tools;
use counterfoil_model::{Catalog, WrongJson};
use serde_json::{Map, Value};

use crate::exit::Complaint;
use crate::files;

/// Reads the catalog from a file with a list of tools.
pub(crate) fn read_catalog(path: PathBuf) -> anyhow::Result<Catalog> {
    let text = files::read_text(&path).map_err(|error| {
        let inline = path.to_string_lossy().starts_with(['[', '{']);
        Complaint::new(format!("the tool list {} cannot be read: {error}", path.display()))
            .maybe_help(inline.then(|| "write the list to a file, and pass its path".to_owned()))
    })?;
    let value: Value = serde_json::from_str(&text).map_err(|error| {
        let wrong = WrongJson::new(&error);
        Complaint::new(format!("the tool list {} is not valid JSON: {wrong}", path.display()))
    })?;
    let read = match value.as_object().is_some_and(Map::is_empty) {
        true => Err("an empty object is not a list of tools".to_owned()),
        false => read_tools(&value).map_err(|error| error.to_string()),
    };
    let tools = read.map_err(|what| {
        Complaint::new(format!("{}: {what}", path.display())).help(
            "a list of tools looks like `[{\"name\": \"…\", \"parameters\": {…}}]` (the formats \
             of OpenAI, Anthropic and MCP are accepted too); `[]` means no tools",
        )
    })?;
    Ok(Catalog::known(tools).0)
}
