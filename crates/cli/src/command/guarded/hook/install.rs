use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;
use counterfoil_hooks::{Agent, command_line, install, switched_off};

use super::canary;
use super::target::Target;
use crate::agents::{Scope, SettingsFile};
use crate::exit::{Complaint, Exit};
use crate::settings_file::{apply, broken, own_program, read};

/// Put the hook into an agent's settings, and prove that it runs
///
/// Everything else in the settings stays as it is; installing twice changes nothing more. Then the
/// command is read out of the file and run as the agent would run it, on synthetic events with a
/// state of their own: a harmless call, a command that has to be denied, and a stop on a false
/// claim that has to be blocked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil hook install claude-code            for every project of this user
  counterfoil hook install claude-code --project  for the project in the working directory
  counterfoil hook install gemini --dry-run       what would change

Exit codes: 0 installed and proved, 1 installed but a probe failed, 2 nothing was written.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let target = &arguments.target;
    let (agent, scope) = (target.agent(), target.scope());
    let files = target.files()?;
    let Some(file) = files.first() else { return Ok(Exit::Input) };
    let before = read(&file.path)?;
    let command = command_line(agent, &own_program()?);
    let edit = install(agent, file.form, before.as_deref(), &command)
        .map_err(|error| broken(&file.path, &error))?;
    apply(&file.path, before.as_deref(), &edit, target.dry_run)?;
    if target.dry_run {
        return Ok(Exit::Clean);
    }
    notes(agent, scope, &files, &command)?;
    let text = read(&file.path)?.unwrap_or_default();
    let proved = canary::run(agent, scope, file, &text)?;
    if proved {
        return Ok(Exit::Clean);
    }
    let (name, flag) = (agent.name(), if scope == Scope::Project { " --project" } else { "" });
    let advice = format!(
        "the settings are left as they are now: fix the problem above and install again, or \
         remove the hook with `counterfoil hook uninstall {name}{flag}`"
    );
    canary::complain(&Complaint::new("the hook does not do its work").help(advice))?;
    Ok(Exit::Findings)
}

/// What else has to be so for the agent to run it.
fn notes(agent: Agent, scope: Scope, files: &[SettingsFile], command: &str) -> anyhow::Result<()> {
    let mut err = io::stderr();
    for file in files {
        let text = read(&file.path)?.unwrap_or_default();
        if let Ok(Some(why)) = switched_off(agent, file.form, &text) {
            let shown = file.path.display();
            writeln!(err, "warning: {shown}: {why}: the agent runs no hooks until that goes")?;
        }
    }
    let program = counterfoil_hooks::program_of(agent, command).unwrap_or_default();
    if scope == Scope::Project && Path::new(&program).is_absolute() {
        writeln!(
            err,
            "note: the command names a path of this machine; with `counterfoil` on PATH it would \
             hold for everybody who shares these settings"
        )?;
    }
    if agent == Agent::Codex {
        writeln!(err, "note: Codex runs a new hook only once you have trusted it: open `/hooks`")?;
    }
    Ok(())
}
