use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toml::Value;

use super::layer::{Layer, at, merged};
use super::options::Options;
use super::read::read;
use super::schema::schema;
use super::variables;
use crate::command;
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
    /// No file at all.
    Nowhere,
}

/// What is configured.
#[derive(Debug, Clone)]
pub(crate) struct Configuration {
    /// Everything that is said, the nearest first, defaults filled in.
    pub(crate) options: Options,
    /// The files that were read, the nearest first.
    pub(crate) files: Vec<PathBuf>,
    pub(super) layers: Vec<Layer>,
}

/// Reads variables and files. Flags come over them: they are the command's business.
pub(crate) fn find(place: &Place) -> anyhow::Result<Configuration> {
    let set = env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.into_string().ok()?)).filter(|(_, v)| !v.is_empty())
    });
    let mut layers = variables::layers(set, &command::variables(), schema)?;
    let files = files(place)?;
    for path in &files {
        layers.push(read_file(path)?);
    }
    let options = merged(&layers).try_into().map_err(|error: toml::de::Error| {
        Complaint::new(error.to_string().trim_end().replace('\n', ", "))
    })?;
    Ok(Configuration { options, files, layers })
}

/// The configuration file that is nearest.
pub(crate) fn nearest_file(place: &Place) -> anyhow::Result<Option<PathBuf>> {
    Ok(files(place)?.into_iter().next())
}

fn files(place: &Place) -> anyhow::Result<Vec<PathBuf>> {
    Ok(match place {
        Place::Nowhere => Vec::new(),
        Place::Named(path) => vec![path.clone()],
        Place::Found => {
            let here = env::current_dir().context("the working directory is gone")?;
            project(&here).into_iter().chain(user()).collect()
        }
    })
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

fn read_file(path: &Path) -> anyhow::Result<Layer> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the configuration {name} cannot be read"))?;
    let mut says = read(&text).map_err(|wrong| {
        let at = if wrong.line > 0 { format!(":{}", wrong.line) } else { String::new() };
        Complaint::new(format!("{name}{at}: {}", wrong.message)).maybe_help(wrong.help)
    })?;
    // Paths in a file are relative to it, wherever the command runs.
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    for [section, key] in Options::PATHS {
        if let Some(Value::String(named)) = says
            .get_mut(section)
            .and_then(Value::as_table_mut)
            .and_then(|section| section.get_mut(key))
        {
            *named = folder.join(&*named).to_string_lossy().into_owned();
        }
    }
    Ok(Layer { name, says })
}

impl Configuration {
    /// Where a key is said: a file or a variable; `None` where its default is in force.
    pub(super) fn said_in(&self, path: &[&str]) -> Option<&str> {
        self.layers.iter().find(|layer| at(&layer.says, path).is_some()).map(|l| l.name.as_str())
    }
}
