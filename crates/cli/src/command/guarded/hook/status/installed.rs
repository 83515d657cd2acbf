//! Finds the hook in settings, and checks whether its command runs.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use counterfoil_hooks::{
    Agent, enabled_plugin, installed as hooks_in, missing_events, program_of, switched_off,
};
use serde::Serialize;

use super::seen::SessionSeen;
use crate::agents::{Homes, Scope, SettingsFile};
use crate::settings_file::{found, read};

/// The maximum time for a program to print its version.
const LONGEST: Duration = Duration::from_secs(5);

/// The hook in one settings file.
#[derive(Debug, Serialize)]
pub(super) struct Installed {
    pub(super) scope: &'static str,
    pub(super) file: String,
    /// The command line; `None` if a plugin installs the hook, or the file is broken.
    pub(super) command: Option<String>,
    /// Problems that keep it from working.
    pub(super) problems: Vec<String>,
    /// Whether a plugin installs the hook.
    #[serde(skip)]
    is_plugin: bool,
}

/// Returns where an agent's hook is installed. A broken file is included, because its agent runs no
/// hook.
pub(super) fn installed(
    homes: &Homes,
    agent: Agent,
    project: &Path,
) -> anyhow::Result<Vec<Installed>> {
    let mut found = Vec::new();
    for scope in Scope::ALL {
        // Without a home folder there are no user settings.
        let Ok(files) = homes.settings(agent, scope, project) else { continue };
        // If the project is the home folder itself, both scopes have the same file.
        for file in files {
            let shown = file.path.display().to_string();
            if found.iter().any(|other: &Installed| other.file == shown) {
                continue;
            }
            let Some(text) = read(&file.path)? else { continue };
            found.extend(in_file(agent, scope, &file, &text, shown));
        }
    }
    Ok(found)
}

/// Returns since when the user's settings have had a working hook, in milliseconds since the Unix
/// epoch; every session that begins later should be seen. `None` without a working hook.
pub(super) fn since(installed: &[Installed]) -> Option<i64> {
    let runs = |hook: &&Installed| {
        hook.scope == Scope::User.name() && hook.command.is_some() && hook.problems.is_empty()
    };
    installed.iter().filter(runs).filter_map(|hook| changed_at(Path::new(&hook.file))).min()
}

/// Reports if both the plugin and the settings install the hook, in any files.
pub(super) fn note_both(installed: &mut [Installed], sessions: &[SessionSeen]) {
    const BOTH: &str = "both the plugin and the settings install the hook: remove one of them";
    let by_plugin = installed.iter().any(|hook| hook.is_plugin);
    let by_settings = installed.iter().any(|hook| hook.command.is_some());
    let twice = sessions.iter().max_by_key(|session| session.began).map_or(0, |s| s.recorded_twice);
    for hook in installed.iter_mut() {
        if by_plugin && by_settings && hook.is_plugin {
            hook.problems.push(BOTH.to_owned());
        } else if twice > 0 && !by_plugin && hook.command.is_some() {
            hook.problems.push(format!(
                "{twice} calls in the newest session were recorded twice because a plugin or \
                 another file also installs the hook: remove one of the two installations"
            ));
        }
    }
}

impl Installed {
    /// Reports a session that began after the hook was installed but has no events.
    pub(super) fn note_unheard(&mut self, agent: Agent, sessions: &[SessionSeen]) {
        // A project's hook does not run in other projects.
        if self.scope != Scope::User.name() || !self.problems.is_empty() {
            return;
        }
        let Some(since) = changed_at(Path::new(&self.file)) else { return };
        let newer = |session: &&SessionSeen| session.began.is_some_and(|began| began > since);
        let newest = sessions.iter().filter(newer).max_by_key(|session| session.began);
        let Some(unheard) = newest.filter(|session| session.last_event.is_none()) else { return };
        let hint = match agent {
            Agent::Codex => {
                ": Codex runs a hook only after you have trusted it; start `codex` and accept it, \
                 or see `/hooks`"
            }
            Agent::ClaudeCode | Agent::Gemini => {
                ": the agent may have been started before that, or it may not run hooks"
            }
        };
        let id = &unheard.session;
        self.problems.push(format!(
            "session {id} began after the hook was installed, but sent no event{hint}"
        ));
    }
}

/// Returns when the file changed, in milliseconds since the Unix epoch.
fn changed_at(file: &Path) -> Option<i64> {
    let changed = file.metadata().ok()?.modified().ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

fn in_file(
    agent: Agent,
    scope: Scope,
    file: &SettingsFile,
    text: &str,
    shown: String,
) -> Vec<Installed> {
    let entry = |command, problems| Installed {
        scope: scope.name(),
        file: shown.clone(),
        command,
        problems,
        is_plugin: false,
    };
    let hooks = match hooks_in(agent, file.form, text) {
        Ok(hooks) => hooks,
        Err(error) => {
            let broken = format!("line {}: {error}: the agent cannot read this file", error.line());
            return vec![entry(None, vec![broken])];
        }
    };
    let off = switched_off(agent, file.form, text).ok().flatten();
    let off = off.map(|why| format!("{why}: the agent runs no hooks"));
    let mut found = Vec::new();
    if let Some(hook) = hooks.first() {
        let missing = missing_events(agent, &hooks);
        let mut problems: Vec<String> = off.clone().into_iter().collect();
        if !missing.is_empty() {
            problems.push(format!("no hook for {}", missing.join(", ")));
        }
        let mut commands: Vec<&str> = hooks.iter().map(|hook| hook.command.as_str()).collect();
        commands.sort_unstable();
        commands.dedup();
        problems.extend(commands.iter().filter_map(|command| trouble(agent, command)));
        found.push(entry(Some(hook.command.clone()), problems));
    }
    if agent == Agent::ClaudeCode && enabled_plugin(text) {
        found.push(Installed { is_plugin: true, ..entry(None, off.into_iter().collect()) });
    }
    found
}

/// Returns why a command does not run this version of this program, if so.
fn trouble(agent: Agent, command: &str) -> Option<String> {
    let program = program_of(agent, command)?;
    let Some(path) = found(&program) else {
        return Some(format!("`{program}` was not found or is not executable"));
    };
    let own = concat!("counterfoil ", env!("CARGO_PKG_VERSION"));
    match version(&path) {
        Ok(actual) if actual == own => None,
        Ok(actual) => Some(format!("`{program}` reports version `{actual}`, but this is `{own}`")),
        Err(why) => Some(format!("cannot determine the version of `{program}`: {why}")),
    }
}

/// Returns the version that a program reports.
pub(in super::super) fn version(program: &Path) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let running = async {
        let mut program = tokio::process::Command::new(program);
        program.arg("--version").stdin(Stdio::null()).kill_on_drop(true).output().await
    };
    let output = runtime
        .block_on(async { tokio::time::timeout(LONGEST, running).await })
        .map_err(|_| "timed out".to_owned())?
        .map_err(|error| error.to_string())?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    Ok(stdout.lines().next().unwrap_or_default().trim().to_owned())
}
