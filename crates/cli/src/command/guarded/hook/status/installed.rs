//! Where the hook stands in settings, and whether what stands there runs.

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

/// How long a program may take to say its version.
const LONGEST: Duration = Duration::from_secs(5);

/// The hook in one settings file.
#[derive(Debug, Serialize)]
pub(super) struct Installed {
    pub(super) scope: &'static str,
    pub(super) file: String,
    /// The command line; `None` where a plugin brings it, or the file is broken.
    pub(super) command: Option<String>,
    /// What keeps it from doing its work.
    pub(super) problems: Vec<String>,
    /// The plugin brings it.
    #[serde(skip)]
    is_plugin: bool,
}

/// Where the hook of an agent is installed. A file that is broken counts: its agent runs no hook.
pub(super) fn installed(
    homes: &Homes,
    agent: Agent,
    project: &Path,
) -> anyhow::Result<Vec<Installed>> {
    let mut found = Vec::new();
    for scope in Scope::ALL {
        // Without a home there are no settings of the user.
        let Ok(files) = homes.settings(agent, scope, project) else { continue };
        // A project in the home folder itself has one file for both.
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

/// Since when the user's settings have the hook, in milliseconds since the Unix epoch: every session
/// that begins later should be seen. `None` where they have none that runs.
pub(super) fn since(installed: &[Installed]) -> Option<i64> {
    let runs = |hook: &&Installed| {
        hook.scope == Scope::User.name() && hook.command.is_some() && hook.problems.is_empty()
    };
    installed.iter().filter(runs).filter_map(|hook| changed_at(Path::new(&hook.file))).min()
}

/// Notes where the plugin and settings both bring the hook, in whichever files.
pub(super) fn note_both(installed: &mut [Installed], sessions: &[SessionSeen]) {
    const BOTH: &str = "the plugin and the settings both bring it: keep one";
    let by_plugin = installed.iter().any(|hook| hook.is_plugin);
    let by_settings = installed.iter().any(|hook| hook.command.is_some());
    let twice = sessions.iter().max_by_key(|session| session.began).map_or(0, |s| s.recorded_twice);
    for hook in installed.iter_mut() {
        if by_plugin && by_settings && hook.is_plugin {
            hook.problems.push(BOTH.to_owned());
        } else if twice > 0 && !by_plugin && hook.command.is_some() {
            hook.problems.push(format!(
                "{twice} calls of the newest session were recorded twice: a plugin or another file \
                 brings it, too: keep one"
            ));
        }
    }
}

impl Installed {
    /// Notes a session that began after the hook was put there, and that it heard nothing of.
    pub(super) fn note_unheard(&mut self, agent: Agent, sessions: &[SessionSeen]) {
        // A hook of a project is not there in others.
        if self.scope != Scope::User.name() || !self.problems.is_empty() {
            return;
        }
        let Some(since) = changed_at(Path::new(&self.file)) else { return };
        let newer = |session: &&SessionSeen| session.began.is_some_and(|began| began > since);
        let newest = sessions.iter().filter(newer).max_by_key(|session| session.began);
        let Some(unheard) = newest.filter(|session| session.last_event.is_none()) else { return };
        let hint = match agent {
            Agent::Codex => {
                ": Codex runs a hook only once it is trusted; start `codex` and agree, or see \
                 `/hooks`"
            }
            Agent::ClaudeCode | Agent::Gemini => {
                ": the agent may have been started before, or runs no hooks"
            }
        };
        let id = &unheard.session;
        self.problems.push(format!(
            "session {id} began after the hook was installed, and no event of it was seen{hint}"
        ));
    }
}

/// In milliseconds since the Unix epoch.
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
            let broken = format!("line {}: {error}: the agent cannot read it", error.line());
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

/// Why a command does not run this program, in this version.
fn trouble(agent: Agent, command: &str) -> Option<String> {
    let program = program_of(agent, command)?;
    let Some(path) = found(&program) else {
        return Some(format!("`{program}` is no program that can be run"));
    };
    let own = concat!("counterfoil ", env!("CARGO_PKG_VERSION"));
    match version(&path) {
        Ok(said) if said == own => None,
        Ok(said) => Some(format!("`{program}` says it is `{said}`, and this is `{own}`")),
        Err(why) => Some(format!("`{program}` does not say its version: {why}")),
    }
}

/// What a program says of its version.
pub(in super::super) fn version(program: &Path) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let asked = async {
        let mut program = tokio::process::Command::new(program);
        program.arg("--version").stdin(Stdio::null()).kill_on_drop(true).output().await
    };
    let output = runtime
        .block_on(async { tokio::time::timeout(LONGEST, asked).await })
        .map_err(|_| "it takes too long".to_owned())?
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
}
