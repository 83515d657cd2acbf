use std::path::PathBuf;

use anyhow::Context as _;
use counterfoil_formats::read_tools;
use counterfoil_model::Catalog;

use crate::files;

/// Reads the catalog from a file with a list of tools.
pub(crate) fn read_catalog(path: PathBuf) -> anyhow::Result<Catalog> {
    let text = files::read_text(&path)
        .with_context(|| format!("the tool list {} cannot be read", path.display()))?;
    let value = serde_json::from_str(&text)
        .with_context(|| format!("the tool list {} is not JSON", path.display()))?;
    let tools = read_tools(&value).with_context(|| path.display().to_string())?;
    Ok(Catalog::known(tools).0)
}
