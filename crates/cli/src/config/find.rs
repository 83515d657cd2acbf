use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toml::{Table, Value};

use super::layer::{Layer, at, merged};
use super::options::Options;
use super::origin::narrowed;
use super::place::{Files, Place, project_file, user_file};
use super::read::read;
use super::schema::schema;
use super::trust;
use super::variables;
use crate::exit::Complaint;
use crate::files;

/// The loaded configuration.
#[derive(Debug, Clone)]
pub(crate) struct Configuration {
    /// The merged values, with defaults; nearer files override farther ones.
    pub(crate) options: Options,
    /// The files that were read, nearest first.
    pub(crate) files: Vec<PathBuf>,
    /// What was ignored in them, and why.
    pub(crate) notes: Vec<String>,
    pub(super) layers: Vec<Layer>,
}

/// Reads variables and files, and prints what was ignored in them to standard error. Flags are not
/// included; each command applies its own.
pub(crate) fn find(place: &Place) -> anyhow::Result<Configuration> {
    let found = gather(place, Err)?;
    for note in &found.notes {
        writeln!(io::stderr(), "warning: {note}")?;
    }
    Ok(found)
}

/// Like [`find`], for a caller that needs a configuration in any case: an unusable project file is
/// ignored, and nothing is printed.
pub(crate) fn find_without_broken_project(place: &Place) -> anyhow::Result<Configuration> {
    gather(place, |error| Ok(format!("{error:#}; ignoring this file")))
}

/// `broken` turns an error in a project's file into a note, or returns it.
fn gather(
    place: &Place,
    broken: impl Fn(anyhow::Error) -> anyhow::Result<String>,
) -> anyhow::Result<Configuration> {
    let (mut layers, mut notes) = of_variables()?;
    let mut files = Vec::new();
    let mut users = Vec::new();
    if let Some(path) = user_file(place) {
        users.push(read_file(&path)?);
        files.push(path);
    }
    if place.files == Files::Found
        && let Some(path) = project_file()
    {
        match of_project(&path, &users) {
            Ok(Some((layer, left_out))) => {
                layers.push(layer);
                notes.extend(left_out);
                files.insert(0, path);
            }
            Ok(None) => notes.push(format!(
                "ignoring {}: it belongs to another user, or other users can write to it",
                path.display()
            )),
            Err(error) => notes.push(broken(error)?),
        }
    }
    layers.extend(users);
    let mut options: Options = merged(&layers).try_into().map_err(|error: toml::de::Error| {
        Complaint::new(error.to_string().trim_end().replace('\n', ", "))
    })?;
    options.files.clone_from(&files);
    #[cfg(feature = "guard")]
    let options = with_ledger(options, place);
    Ok(Configuration { options, files, notes, layers })
}

/// Returns the options of a named file with this text, together with variables and defaults.
pub(crate) fn pasted(text: &str) -> anyhow::Result<Options> {
    let (mut layers, _) = of_variables()?;
    layers.push(layer(Path::new("the policy"), text)?);
    Ok(merged(&layers).try_into()?)
}

/// Returns the layers of the variables that are set, and notes about unknown ones.
fn of_variables() -> Result<(Vec<Layer>, Vec<String>), Complaint> {
    let set = env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.into_string().ok()?)).filter(|(_, v)| !v.is_empty())
    });
    variables::layers(set, schema)
}

/// Returns the permitted part of a project's file, with a note about what is ignored; `None` if the
/// file does not belong to the user.
fn of_project(path: &Path, users: &[Layer]) -> anyhow::Result<Option<(Layer, Option<String>)>> {
    if !is_own(path) {
        return Ok(None);
    }
    let text = files::read_text(path)
        .with_context(|| format!("cannot read the configuration {}", path.display()))?;
    let layer = layer(path, &text)?;
    if trust::is_trusted(path, &text) {
        return Ok(Some((layer, None)));
    }
    let (says, refused) = narrowed(&layer.says, &in_force(users)?);
    let note = (!refused.is_empty()).then(|| {
        format!(
            "{}: project configuration may only tighten your settings: ignoring {}; run \
             `counterfoil trust` to allow it",
            path.display(),
            refused.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
        )
    });
    Ok(Some((Layer { says, ..layer }, note)))
}

/// Returns the keys of a file that a project may not set.
pub(crate) fn beyond(place: &Place, path: &Path, text: &str) -> anyhow::Result<Vec<String>> {
    let users: Vec<Layer> =
        user_file(place).map(|path| read_file(&path)).transpose()?.into_iter().collect();
    Ok(narrowed(&layer(path, text)?.says, &in_force(&users)?).1)
}

/// Applies the ledger flag, and the password from the environment if the URL has none.
#[cfg(feature = "guard")]
fn with_ledger(mut options: Options, place: &Place) -> Options {
    let url = place.ledger.clone().or(options.ledger.url);
    let password = env::var("PGPASSWORD").ok();
    options.ledger.url = url.map(|url| match &password {
        Some(password) => url.or_password(password),
        None => url,
    });
    options
}

/// Returns what is in force without the project: the user's settings, and defaults.
fn in_force(users: &[Layer]) -> anyhow::Result<Table> {
    let defaults = Layer { name: String::new(), says: Table::try_from(Options::default())? };
    Ok(merged(&users.iter().cloned().chain([defaults]).collect::<Vec<_>>()))
}

/// Whether a file belongs to the user or to root, and is not writable by everyone.
#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    path.metadata().is_ok_and(|file| [user, 0].contains(&file.uid()) && file.mode() & 0o002 == 0)
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> bool {
    true
}

fn read_file(path: &Path) -> anyhow::Result<Layer> {
    let text = files::read_text(path)
        .with_context(|| format!("cannot read the configuration {}", path.display()))?;
    layer(path, &text)
}

/// Parses the text of a file.
fn layer(path: &Path, text: &str) -> anyhow::Result<Layer> {
    let name = path.display().to_string();
    let mut says = read(text).map_err(|wrong| {
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
    /// Returns the file or variable that sets a key; `None` if its default is in force.
    pub(super) fn source_of(&self, path: &[&str]) -> Option<&str> {
        self.layers.iter().find(|layer| at(&layer.says, path).is_some()).map(|l| l.name.as_str())
    }
}
