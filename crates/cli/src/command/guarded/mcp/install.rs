use clap::Args;
use counterfoil_hooks::{Reached, SettingsEdit, guard_servers, listed_servers, release_servers};

use super::clients::{Place, Target};
use crate::exit::{Complaint, Exit, note};
use crate::settings_file::{apply, broken, own_program, read};
use crate::suggest::did_you_mean;

/// Route the servers in a client's configuration through the gateway
///
/// A server `{ "command": "npx", "args": ["-y", "x"] }` becomes `counterfoil mcp -- npx -y x`.
/// Everything else in the file is kept, and installing again changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil mcp install claude-code             all of this user's servers
  counterfoil mcp install cursor --project files  one server in the project's .cursor/mcp.json
  counterfoil mcp install codex --dry-run         show what would change

Exit codes: 0 done, 2 nothing was written.")]
pub(crate) struct InstallArguments {
    #[command(flatten)]
    target: Target,
}

/// Stop routing the servers in a client's configuration through the gateway
///
/// The client then starts each server directly again, with its original command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil mcp uninstall claude-code
  counterfoil mcp uninstall cursor --project files --dry-run")]
pub(crate) struct UninstallArguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn install(arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let program = own_program()?;
    edit(&arguments.target, |place, text, only| {
        guard_servers(place.form, &place.keys(), text, &program, only)
            .map_err(|error| broken(&place.path, &error))
    })
}

pub(super) fn uninstall(arguments: &UninstallArguments) -> anyhow::Result<Exit> {
    edit(&arguments.target, |place, text, only| {
        release_servers(place.form, &place.keys(), text, only)
            .map_err(|error| broken(&place.path, &error))
    })
}

fn edit(
    target: &Target,
    edited: impl Fn(&Place, &str, &[String]) -> Result<SettingsEdit, Complaint>,
) -> anyhow::Result<Exit> {
    let places = target.places()?;
    let Some(first) = places.first() else { return Ok(Exit::Input) };
    let Some(before) = read(&first.path)? else {
        return Err(Complaint::new(format!("`{}` does not exist", first.path.display()))
            .help("add a server in the client first, or specify another file with `--file`")
            .into());
    };
    let mut known = Vec::new();
    for place in &places {
        let servers = listed_servers(place.form, &place.keys(), &before);
        known.extend(servers.map_err(|error| broken(&place.path, &error))?);
    }
    if let Some(missing) =
        target.servers.iter().find(|name| !known.iter().any(|s| s.name == **name))
    {
        let names: Vec<&str> = known.iter().map(|server| server.name.as_str()).collect();
        let wrong = format!("`{}` has no server `{missing}`", first.path.display());
        return Err(match did_you_mean(missing, names.iter().copied()) {
            Some(near) => Complaint::new(wrong).help(near),
            None if names.is_empty() => Complaint::new(wrong).help("the file lists no servers"),
            None => Complaint::new(wrong).help(format!("the file lists: {}", names.join(", "))),
        }
        .into());
    }
    let mut whole = SettingsEdit { text: Some(before.clone()), changes: Vec::new() };
    for place in &places {
        let text = whole.text.as_deref().unwrap_or_default();
        let SettingsEdit { text, changes } = edited(place, text, &target.servers)?;
        whole.text = text;
        whole.changes.extend(changes);
    }
    apply(&first.path, Some(&before), &whole, target.dry_run)?;
    let wanted =
        |name: &String| target.servers.is_empty() || target.servers.iter().any(|one| one == name);
    for server in known.iter().filter(|server| wanted(&server.name)) {
        let why = match &server.reached {
            Reached::Otherwise(why) => why.as_str(),
            Reached::Guarded { command, .. } if command.is_empty() => {
                "it is Counterfoil's own server"
            }
            _ => continue,
        };
        note(format!("`{}` is unchanged: {why}", server.name))?;
    }
    if known.is_empty() {
        note(format!("`{}` lists no servers", first.path.display()))?;
    }
    Ok(Exit::Clean)
}
