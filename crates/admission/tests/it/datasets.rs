//! Large optional data sets: read if they exist next to the repository, skipped otherwise.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use counterfoil_model::{Catalog, Tool};
use flate2::read::GzDecoder;
use serde_json::Value;

/// The path of a data set; if it does not exist, prints a note and returns `None`.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not here");
    None
}

/// The rows of a compressed JSONL data set; empty if it does not exist.
pub(crate) fn rows(name: &str) -> impl Iterator<Item = Value> {
    let lines = path(name).map(|path| {
        let file = File::open(path).expect("data sets are readable");
        BufReader::new(GzDecoder::new(file)).lines()
    });
    lines.into_iter().flatten().map(|line| {
        serde_json::from_str(&line.expect("data sets are UTF-8")).expect("data sets are JSON")
    })
}

/// The tools of a row.
pub(crate) fn catalog(row: &Value) -> Catalog {
    let Some(tools) = row["tools"].as_array() else { return Catalog::unknown() };
    let tool = |tool: &Value| Tool {
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        parameters: tool.get("parameters").filter(|p| p.is_object()).cloned(),
        ..Tool::named(tool["name"].as_str().unwrap_or_default())
    };
    Catalog::known(tools.iter().map(tool)).0
}
