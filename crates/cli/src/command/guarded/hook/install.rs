use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;
use counterfoil_hooks::{
    Agent, Extras, OnFault, SessionStart, WhenMissing, command_line, install_with, switched_off,
};

use super::canary;
use super::status::version;
use super::target::Target;
use crate::agents::{Scope, SettingsFile};
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::judge::Judging;
use crate::settings_file::{apply, broken, found, own_program, read};

/// Install the hook in an agent's settings, and test that it runs
///
/// All other settings are kept, and installing again has no further effect. The installed command
/// is then run as the agent would run it, on synthetic events with temporary state: a harmless
/// call, a command that must be denied, and a stop after a false claim that must be blocked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil hook install claude-code            for every project of this user
  counterfoil hook install claude-code --project  for the project in the working directory
  counterfoil hook install gemini --dry-run       show what would change
  counterfoil hook install claude-code --closed   block all tools if `counterfoil` is missing
  counterfoil hook install claude-code --judge claude   a model reads the last answer of each turn

Exit codes: 0 installed and tested, 1 installed but a test failed, 2 nothing was written.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Block all tools if this program is missing or fails, provided that the agent has a setting
    /// for that (same as `[hooks] on_failure = "closed"`)
    #[arg(long)]
    closed: bool,
    /// Start sessions with the execution protocol (`counterfoil prompt`), if the agent supports it
    #[arg(long)]
    protocol: bool,
    /// Also have this judge read the agent's last answer at each stop: claude, codex, gemini, a
    /// name from [[llm.providers]], or auto. Sets `hooks` and `name` in `[judge]` in your user
    /// configuration. Sends each turn, with secrets removed, to that model
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
}

/// The first version of Claude Code that supports `onFailure`.
const KNOWS_ON_FAILURE: [u64; 3] = [2, 1, 295];

pub(super) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let target = &arguments.target;
    let (agent, scope) = (target.agent(), target.scope());
    let files = target.files()?;
    let Some(file) = files.first() else { return Ok(Exit::Input) };
    let before = read(&file.path)?;
    let command = command_line(agent, &own_program()?);
    let extras = extras(global, agent, arguments)?;
    let edit = install_with(agent, file.form, before.as_deref(), &command, extras)
        .map_err(|error| broken(&file.path, &error))?;
    if let Some(judge) = &arguments.judge {
        // An unknown judge is reported before anything is written.
        Judging::named(judge, &config::find(&global.place())?.options)?;
        let members = [("hooks", true.into()), ("name", judge.as_str().into())];
        config::set_judge(&global.place(), &members, target.dry_run)?;
    }
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
        "the hook is still in the settings: fix the problem above and install again, or remove the \
         hook with `counterfoil hook uninstall {name}{flag}`"
    );
    canary::complain(&Complaint::new("the hook does not work").help(advice))?;
    Ok(Exit::Findings)
}

/// Returns the extra settings that the user wants and the installed agent supports.
fn extras(global: &Global, agent: Agent, arguments: &Arguments) -> anyhow::Result<Extras> {
    let mut err = io::stderr();
    let mut extras = Extras::default();
    let configured = config::find(&global.place()).ok().map(|found| found.options.hooks.on_failure);
    if arguments.closed || configured == Some(OnFault::Closed) {
        match lacks_on_failure(agent) {
            None => extras.when_missing = WhenMissing::Blocks,
            Some(why) => writeln!(
                err,
                "note: {why}: if `counterfoil` is missing, the agent continues without it; \
                 `counterfoil hook status` reports that"
            )?,
        }
    }
    match agent {
        _ if !arguments.protocol => {}
        Agent::ClaudeCode => extras.session_start = SessionStart::Protocol,
        Agent::Codex | Agent::Gemini => writeln!(
            err,
            "note: {} has no session start event: add the output of `counterfoil prompt` to its \
             instructions",
            agent.name()
        )?,
    }
    Ok(extras)
}

/// Returns why the agent cannot be set to block tools without its hook, if so.
fn lacks_on_failure(agent: Agent) -> Option<String> {
    if agent != Agent::ClaudeCode {
        return Some(format!("{} has no setting for hook failures", agent.name()));
    }
    let [major, minor, patch] = KNOWS_ON_FAILURE;
    let since = format!("`onFailure` needs Claude Code {major}.{minor}.{patch} or later");
    let Some(program) = found("claude") else {
        return Some(format!("{since}, and `claude` is not on PATH"));
    };
    let reported = version(&program).unwrap_or_default();
    let numbers: Vec<u64> = reported
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .take(3)
        .collect();
    (numbers.len() < 3 || numbers.as_slice() < KNOWS_ON_FAILURE.as_slice())
        .then(|| format!("{since}, and `claude` reports version `{reported}`"))
}

/// Prints what else the agent needs in order to run the hook.
fn notes(agent: Agent, scope: Scope, files: &[SettingsFile], command: &str) -> anyhow::Result<()> {
    let mut err = io::stderr();
    for file in files {
        let text = read(&file.path)?.unwrap_or_default();
        if let Ok(Some(why)) = switched_off(agent, file.form, &text) {
            let shown = file.path.display();
            writeln!(
                err,
                "warning: {shown}: {why}: the agent runs no hooks until you remove that setting"
            )?;
        }
    }
    let program = counterfoil_hooks::program_of(agent, command).unwrap_or_default();
    if scope == Scope::Project && Path::new(&program).is_absolute() {
        writeln!(
            err,
            "note: the command contains a path on this machine; put `counterfoil` on PATH so that \
             it works for everyone who shares these settings"
        )?;
    }
    if agent == Agent::Codex {
        writeln!(
            err,
            "note: Codex runs a new hook only after you have trusted it: open `/hooks` in Codex"
        )?;
    }
    Ok(())
}
