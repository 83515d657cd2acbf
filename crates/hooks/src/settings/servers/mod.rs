//! MCP servers in a client's settings, put behind the gateway and taken out again.

mod json;
mod toml;

use std::path::Path;

use super::{SettingsChange, SettingsEdit, SettingsError, SettingsForm};

/// A server as it stands in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub reached: Reached,
}

/// How a client reaches a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// It starts this command.
    Directly(Vec<String>),
    /// It starts our gateway.
    Guarded {
        /// By this name or path.
        program: String,
        /// The command behind it; empty for our own tools.
        command: Vec<String>,
    },
    /// Otherwise; the member that says so, or what is wrong with its command.
    Otherwise(String),
}

/// The servers of a settings file, in its order. `keys` lead down to them.
///
/// # Errors
/// When the file is broken, or something else stands where servers belong.
pub fn listed_servers(
    form: SettingsForm,
    keys: &[&str],
    text: &str,
) -> Result<Vec<ListedServer>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    match form {
        SettingsForm::Json => json::listed(text, false, keys),
        SettingsForm::JsonWithComments => json::listed(text, true, keys),
        SettingsForm::Toml => toml::listed(text, keys),
    }
}

/// Puts servers that are started as a command behind the gateway: those of these names, or all.
/// `program` is ours, by name or path. Everything else stays as it is, and so does a server that is
/// behind it already, except for another `program`.
///
/// # Errors
/// As [`listed_servers`].
pub fn guard_servers(
    form: SettingsForm,
    keys: &[&str],
    text: &str,
    program: &str,
    only: &[String],
) -> Result<SettingsEdit, SettingsError> {
    edited(form, keys, text, only, |server| match &server.reached {
        Reached::Directly(words) => {
            let mut front = vec!["mcp".to_owned(), "--name".to_owned(), server.name.clone()];
            front.push("--".to_owned());
            front.extend(words.first().cloned());
            Some(Edit { command: program.to_owned(), front: Front::Put(front) })
        }
        Reached::Guarded { .. } => Some(Edit { command: program.to_owned(), front: Front::Stays }),
        Reached::Otherwise(_) => None,
    })
}

/// Takes servers out from behind the gateway, so that the client starts them by itself again.
///
/// # Errors
/// As [`listed_servers`].
pub fn release_servers(
    form: SettingsForm,
    keys: &[&str],
    text: &str,
    only: &[String],
) -> Result<SettingsEdit, SettingsError> {
    edited(form, keys, text, only, |server| match &server.reached {
        Reached::Guarded { command: words, .. } => {
            let (command, kept) = words.split_first()?;
            let front = Front::Taken { kept: kept.len() };
            Some(Edit { command: command.clone(), front })
        }
        _ => None,
    })
}

/// What is to become of one server's entry.
struct Edit {
    command: String,
    front: Front,
}

/// What becomes of the beginning of its arguments.
enum Front {
    Stays,
    /// These go in front.
    Put(Vec<String>),
    /// All but the last `kept` go.
    Taken {
        kept: usize,
    },
}

fn edited(
    form: SettingsForm,
    keys: &[&str],
    text: &str,
    only: &[String],
    edit: impl Fn(&ListedServer) -> Option<Edit>,
) -> Result<SettingsEdit, SettingsError> {
    let mut text = text.to_owned();
    let mut changes = Vec::new();
    for server in listed_servers(form, keys, &text)? {
        if !only.is_empty() && !only.contains(&server.name) {
            continue;
        }
        let Some(edit) = edit(&server) else { continue };
        let name = server.name.as_str();
        let new = match form {
            SettingsForm::Json => json::apply(&text, false, keys, name, &edit)?,
            SettingsForm::JsonWithComments => json::apply(&text, true, keys, name, &edit)?,
            SettingsForm::Toml => toml::apply(&text, keys, name, &edit)?,
        };
        if new == text {
            continue;
        }
        text = new;
        let entry = server.name.clone();
        let from = match server.reached {
            Reached::Guarded { program, .. } => program,
            _ => String::new(),
        };
        changes.push(match edit.front {
            Front::Put(_) => SettingsChange::Added { entry },
            Front::Taken { .. } => SettingsChange::Removed { entry },
            Front::Stays => SettingsChange::Updated { entry, from },
        });
    }
    Ok(SettingsEdit { text: Some(text), changes })
}

/// What a command and its arguments are to us.
fn reached(command: &str, arguments: Vec<String>) -> Reached {
    let stem = Path::new(command).file_stem().and_then(|stem| stem.to_str());
    if stem == Some("counterfoil") && arguments.first().is_some_and(|word| word == "mcp") {
        let behind = arguments.into_iter().skip_while(|word| word != "--").skip(1);
        return Reached::Guarded { program: command.to_owned(), command: behind.collect() };
    }
    Reached::Directly(std::iter::once(command.to_owned()).chain(arguments).collect())
}

/// What an entry without a command says.
fn otherwise<'k>(mut keys: impl Iterator<Item = &'k str>) -> Reached {
    let address = keys.find(|key| key.to_ascii_lowercase().ends_with("url"));
    Reached::Otherwise(match address {
        Some(key) => format!("it is reached over HTTP (`{key}`)"),
        None => "it has no `command`".to_owned(),
    })
}

/// What is wrong with arguments that are no list of texts.
const ODD_ARGUMENTS: &str = "its `args` are not a list of strings";
