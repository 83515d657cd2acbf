use clap::Args;
use counterfoil_hooks::{Agent, uninstall};

use super::target::Target;
use crate::agents::{Homes, Scope};
use crate::config;
use crate::exit::{Exit, note};
use crate::global::Global;
use crate::settings_file::{apply, broken, read};

/// Remove the hook from an agent's settings
///
/// Only Counterfoil's own entries are removed. If nothing else has changed, the file is then
/// byte for byte identical to the one before the installation. When the last hook is gone, `[judge]
/// hooks`, which `hook install --judge` sets, is switched off.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil hook uninstall claude-code
  counterfoil hook uninstall claude-code --project --dry-run")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let target = &arguments.target;
    let files = target.files()?;
    if let Some(first) = files.first().filter(|_| files.iter().all(|file| !file.path.exists())) {
        note(format!("there is no {}", first.path.display()))?;
    }
    for file in files {
        let Some(before) = read(&file.path)? else { continue };
        let edit = uninstall(target.agent(), file.form, &before)
            .map_err(|error| broken(&file.path, &error))?;
        apply(&file.path, Some(&before), &edit, target.dry_run)?;
    }
    let (homes, here) = (Homes::from_environment(), std::env::current_dir()?);
    let hooked = |agent, scope| homes.hooked(agent, scope, &here);
    let (other, flag) = match target.scope() {
        Scope::User => (Scope::Project, " --project"),
        Scope::Project => (Scope::User, ""),
    };
    let name = target.agent().name();
    for path in hooked(target.agent(), other) {
        let path = path.display();
        note(format!("{path} also has the hook: `counterfoil hook uninstall {name}{flag}`"))?;
    }
    let all = || Agent::ALL.into_iter().flat_map(|agent| Scope::ALL.map(|scope| (agent, scope)));
    let judged = config::find(&global.place()).is_ok_and(|found| found.options.judge.hooks);
    if judged && all().all(|(agent, scope)| hooked(agent, scope).is_empty()) {
        config::set_judge(&global.place(), &[("hooks", false.into())], target.dry_run)?;
    }
    Ok(Exit::Clean)
}
