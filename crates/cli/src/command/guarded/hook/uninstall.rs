use clap::Args;
use counterfoil_hooks::uninstall;

use super::target::Target;
use crate::exit::Exit;
use crate::settings_file::{apply, broken, read};

/// Remove the hook from an agent's settings
///
/// Only Counterfoil's own entries are removed. If nothing else has changed, the file is then
/// byte for byte identical to the one before the installation.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil hook uninstall claude-code
  counterfoil hook uninstall claude-code --project --dry-run")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let target = &arguments.target;
    for file in target.files()? {
        let Some(before) = read(&file.path)? else { continue };
        let edit = uninstall(target.agent(), file.form, &before)
            .map_err(|error| broken(&file.path, &error))?;
        apply(&file.path, Some(&before), &edit, target.dry_run)?;
    }
    Ok(Exit::Clean)
}
