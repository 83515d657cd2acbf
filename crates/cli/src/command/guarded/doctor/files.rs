//! Checks of configuration, state folder and keys.

use std::fs;
use std::path::{Path, PathBuf};

use counterfoil_guard::{Ledger, LedgerSettings};
use counterfoil_model::Agent;

use super::check::Check;
use crate::agents::{Homes, Scope};
use crate::config::Options;
use crate::exit::Complaint;
use crate::state::State;

const CONFIGURATION: &str = "configuration";
const STATE: &str = "state folder";
const KEYS: &str = "signing keys";
const HOOKS: &str = "agents' hooks";
const LEDGER: &str = "shared ledger";

/// The valid configuration, and what is `unset` in it.
pub(super) fn configuration(files: &[PathBuf], unset: &[String]) -> Vec<Check> {
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let valid = match names.is_empty() {
        true => Check::ok(CONFIGURATION, "no file; using defaults"),
        false => Check::ok(CONFIGURATION, format!("valid: {}", names.join(", "))),
    };
    let advice = "set the variables, or `enabled = false` for the server";
    let unset = unset.iter().map(|what| Check::note(CONFIGURATION, what, advice));
    std::iter::once(valid).chain(unset).collect()
}

pub(super) fn unusable(error: &anyhow::Error) -> Check {
    let messages: Vec<String> = error.chain().map(ToString::to_string).collect();
    let help = error.chain().find_map(|cause| cause.downcast_ref::<Complaint>()?.advice());
    Check::fail(
        CONFIGURATION,
        messages.join(": "),
        help.unwrap_or("`counterfoil config check` shows the problem"),
    )
}

/// Checks the state folder, and creates nothing.
pub(super) fn state(state: Result<State, Complaint>) -> Check {
    let fail = |complaint: &Complaint| {
        let help = complaint.advice().unwrap_or("specify a folder with `--state DIR`");
        Check::fail(STATE, complaint.to_string(), help)
    };
    let state = match state {
        Ok(state) => state,
        Err(complaint) => return fail(&complaint),
    };
    let folder = state.folder().path().to_owned();
    if !folder.exists() {
        return Check::ok(
            STATE,
            format!("{} does not exist yet; the first recorded call creates it", folder.display()),
        );
    }
    match state.create() {
        Ok(_) => Check::ok(STATE, format!("{} is writable by its owner only", folder.display())),
        Err(complaint) => fail(&complaint),
    }
}

/// Checks the shared ledger, if one is configured, and creates nothing.
pub(super) fn ledger(settings: &LedgerSettings) -> Option<Check> {
    let url = settings.url.as_ref()?;
    Some(match Ledger::look(settings) {
        Ok(Some(events)) => Check::ok(LEDGER, format!("{url} has {events} events")),
        Ok(None) => {
            Check::ok(LEDGER, format!("{url} has no ledger yet; the first call creates it"))
        }
        Err(error) => Check::fail(LEDGER, error.to_string(), error.help()),
    })
}

/// Lists the agents with a hook, in the settings of the user and of this project.
pub(super) fn hooks() -> Check {
    let homes = Homes::from_environment();
    let here = std::env::current_dir().unwrap_or_default();
    let all = Agent::ALL.into_iter().flat_map(|agent| Scope::ALL.map(|scope| (agent, scope)));
    let mut found: Vec<String> = all
        .flat_map(|(agent, scope)| {
            let files = homes.hooked(agent, scope, &here).into_iter();
            files.map(move |file| format!("{} ({})", agent.name(), file.display()))
        })
        .collect();
    found.dedup();
    match found.is_empty() {
        true => Check::ok(
            HOOKS,
            "no agent has the hook; to install it: `counterfoil hook install AGENT`",
        ),
        false => Check::ok(HOOKS, found.join(", ")),
    }
}

/// Checks that only their owner can read private keys.
pub(super) fn keys(state: Option<State>, options: &Options) -> Option<Check> {
    let folder = state?.folder();
    let in_folders = [folder.path().to_owned(), folder.keys()].into_iter().flat_map(|folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "key"))
    });
    let keys: Vec<PathBuf> =
        in_folders.chain(options.ledger.key.clone()).filter(|p| p.is_file()).collect();
    if keys.is_empty() {
        return Some(Check::ok(KEYS, "none yet"));
    }
    let exposed = keys.iter().find(|path| is_exposed(path));
    Some(match exposed {
        None => Check::ok(KEYS, "readable by their owner only"),
        Some(path) => Check::fail(
            KEYS,
            format!("other users can read {}", path.display()),
            &format!("run `chmod 600 {}`, then rotate the key", path.display()),
        ),
    })
}

#[cfg(unix)]
fn is_exposed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_exposed(_: &Path) -> bool {
    false
}
