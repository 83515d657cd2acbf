use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::options::Options;
use super::read::read;
use crate::exit::Complaint;

/// The name of a configuration file.
const NAME: &str = "countersign.toml";

/// Where the configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Found: the project's, then the user's.
    Found,
    /// Exactly this file.
    Named(PathBuf),
    /// None at all.
    Nowhere,
}

/// The options of every file in force, the nearest first, and those files.
pub(crate) fn find(place: &Place) -> anyhow::Result<(Options, Vec<PathBuf>)> {
    let files = match place {
        Place::Nowhere => Vec::new(),
        Place::Named(path) => vec![path.clone()],
        Place::Found => {
            let here = env::current_dir().context("the working directory is gone")?;
            project(&here).into_iter().chain(user()).collect()
        }
    };
    let mut options = Options::default();
    for path in &files {
        options = options.or(read_file(path)?);
    }
    Ok((options, files))
}

fn project(here: &Path) -> Option<PathBuf> {
    here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

fn user() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .or_else(|| set("APPDATA"))?;
    Some(folder.join("countersign").join(NAME)).filter(|path| path.is_file())
}

fn read_file(path: &Path) -> anyhow::Result<Options> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the configuration {} cannot be read", path.display()))?;
    let mut options = read(&text).map_err(|wrong| {
        let at = if wrong.line > 0 { format!(":{}", wrong.line) } else { String::new() };
        Complaint::new(format!("{}{at}: {}", path.display(), wrong.message)).maybe_help(wrong.help)
    })?;
    // Paths in a file are relative to it, wherever the command runs.
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    for named in [&mut options.check.tools, &mut options.check.baseline].into_iter().flatten() {
        *named = folder.join(&*named).to_string_lossy().into_owned();
    }
    Ok(options)
}
