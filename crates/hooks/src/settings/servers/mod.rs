//! Puts MCP servers in a client's settings behind the gateway, and releases them again.

mod json;
mod toml;

use std::path::Path;

use super::{SettingsChange, SettingsEdit, SettingsError, SettingsForm};

/// A server in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedServer {
    /// Its name.
    pub name: String,
    /// How the client reaches it.
    pub reached: Reached,
}

/// How a client reaches a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// The client starts this command.
    Directly(Vec<String>),
    /// The client starts our gateway.
    Guarded {
        /// The name or path of our program.
        program: String,
        /// The command behind the gateway; empty for our own tools.
        command: Vec<String>,
    },
    /// In another way. Contains the member that shows it, or what is wrong with its command.
    Otherwise(String),
}

/// The servers in a settings file, in file order. `keys` is the path to them.
///
/// # Errors
/// When the file is broken, or something else is in the place of the servers.
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

/// Puts servers that are started by a command behind the gateway: those with these names, or all.
/// `program` is ours, by name or path. Everything else is unchanged, as is a server that is already
/// behind the gateway, unless `program` differs.
///
/// # Errors
/// As for [`listed_servers`].
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

/// Releases servers from behind the gateway, so that the client starts them itself again.
///
/// # Errors
/// As for [`listed_servers`].
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

/// An edit of one server's entry.
struct Edit {
    command: String,
    front: Front,
}

/// What happens to the first arguments.
enum Front {
    Stays,
    /// These are put in front.
    Put(Vec<String>),
    /// All but the last `kept` are removed.
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

/// Classifies a command and its arguments.
fn reached(command: &str, arguments: Vec<String>) -> Reached {
    let stem = Path::new(command).file_stem().and_then(|stem| stem.to_str());
    if stem == Some("counterfoil") && arguments.first().is_some_and(|word| word == "mcp") {
        let guarded = arguments.into_iter().skip_while(|word| word != "--").skip(1);
        return Reached::Guarded { program: command.to_owned(), command: guarded.collect() };
    }
    Reached::Directly(std::iter::once(command.to_owned()).chain(arguments).collect())
}

/// Describes an entry without a command.
fn otherwise<'k>(mut keys: impl Iterator<Item = &'k str>) -> Reached {
    let address = keys.find(|key| key.to_ascii_lowercase().ends_with("url"));
    Reached::Otherwise(match address {
        Some(key) => format!("it is reached over HTTP (`{key}`)"),
        None => "it has no `command`".to_owned(),
    })
}

/// The problem with arguments that are not a list of strings.
const ODD_ARGUMENTS: &str = "its `args` is not a list of strings";
