//! The configured MCP servers (`[mcp.servers]`), with their tools as tools of a guard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use counterfoil_guard::{Guard, Profile, SandboxOptions, StateFolder, ToolExecutor as _};
use counterfoil_sandbox::ConfinedServer;
use counterfoil_serve::{
    ClientOptions, McpExecutor, NamedServer, Program, Remote, Server, not_set, with_variables,
};

use crate::config::{Options, ServerOptions};
use crate::exit::Complaint;
use crate::guard::sandbox;

/// The maximum time for a server to list its tools before a conversation begins without it.
const PATIENCE: Duration = Duration::from_secs(20);

/// The connected servers, and a message for each server that is left out.
#[derive(Default)]
pub(crate) struct Servers {
    connected: Vec<McpExecutor>,
    pub(crate) left_out: Vec<String>,
}

impl Servers {
    /// Offers the present tools of each server that has announced a change. Returns a message for
    /// each change.
    pub(crate) async fn list_again(&mut self, guard: &Guard) -> Vec<String> {
        let mut messages = Vec::new();
        for executor in &mut self.connected {
            let id = executor.id();
            messages.push(match executor.listed_again().await {
                Ok(None) => continue,
                Ok(Some(changed)) => {
                    guard.unregister(&id);
                    *executor = changed.clone();
                    match guard.register(changed) {
                        Ok(()) => format!("the tools of {id} have changed"),
                        Err(error) => format!("the tools of {id} are no longer offered: {error}"),
                    }
                }
                Err(error) => {
                    format!("the tools of {id} may have changed, but cannot be listed: {error}")
                }
            });
        }
        messages
    }
}

/// Registers the tools of all servers, or only of the server with this tool.
///
/// # Errors
/// Returns an error if a server's configuration is invalid.
pub(crate) async fn offer(
    guard: &Guard,
    options: &Options,
    state: Option<&StateFolder>,
    tool: Option<&str>,
) -> anyhow::Result<Servers> {
    let mut wanted = configured(options, state)?;
    wanted.retain(|server| {
        let has =
            |tool: &str| tool.strip_prefix(&server.name).is_some_and(|rest| rest.starts_with("__"));
        tool.is_none_or(has)
    });
    let connecting = wanted.into_iter().map(|NamedServer { name, server, limit }| {
        tokio::spawn(async move {
            let made = McpExecutor::connect(&name, server, ClientOptions::within(limit));
            match tokio::time::timeout(PATIENCE, made).await {
                Ok(made) => made.map_err(|error| format!("`{name}`: {error}")),
                Err(_) => Err(format!("`{name}` did not list its tools within {PATIENCE:?}")),
            }
        })
    });
    // Connect in parallel, because each server may take a while to start.
    let connecting: Vec<_> = connecting.collect();
    let mut servers = Servers::default();
    for connected in connecting {
        let offered = match connected.await.context("cannot reach a server")? {
            Ok(executor) => {
                servers.connected.push(executor.clone());
                guard.register(executor).map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        servers.left_out.extend(offered.err().map(|why| format!("the MCP server {why}")));
    }
    Ok(servers)
}

/// Checks the configured servers, without starting any. Returns a message for each server whose
/// variables are not set here.
pub(crate) fn check(configuration: &Options) -> anyhow::Result<Vec<String>> {
    let servers = configured(configuration, None)?.into_iter();
    let unset = servers.filter_map(|NamedServer { name, server, .. }| match server {
        Server::Unset(names) => {
            Some(format!("the MCP server `{name}` cannot be used: {}", not_set(&names)))
        }
        _ => None,
    });
    Ok(unset.collect())
}

/// Returns the configured servers.
pub(crate) fn configured(
    configuration: &Options,
    state: Option<&StateFolder>,
) -> anyhow::Result<Vec<NamedServer>> {
    let mut all = Vec::new();
    let servers = configuration.mcp.servers.iter();
    for (name, options) in servers.filter(|(_, options)| options.enabled) {
        let place = format!("mcp.servers.{name}");
        let wrong = |what: String| Complaint::new(format!("{place}: {what}"));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) || name.contains("__") || name.ends_with('_')
        {
            let help = "use letters, digits, `-` and single `_`; the last character must not be \
                `_`";
            return Err(wrong("the name cannot be used as a prefix of tool names".to_owned())
                .help(help)
                .into());
        }
        if options.timeout_secs == 0 {
            return Err(wrong("timeout_secs is 0, so every request would fail".to_owned()).into());
        }
        // One file may set the URL, and another one this.
        if let Some((key, why)) = options.misplaced() {
            return Err(Complaint::new(format!("{place}.{key} {why}")).into());
        }
        let limit = Duration::from_secs(options.timeout_secs);
        let server = match (&options.url, options.command.is_empty()) {
            (Some(url), true) => {
                let (headers, unset) = all_filled(&options.headers).context(place.clone())?;
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let headers = headers.filter(|_| unset.is_empty());
                let remote = Remote::new(url, headers, limit).context(place)?;
                if unset.is_empty() { Server::Remote(remote) } else { Server::Unset(unset) }
            }
            (None, false) => {
                let (env, unset) = all_filled(&options.env).context(place.clone())?;
                let (words, folder) = (options.command.clone(), options.folder.clone());
                let sandbox = confined(options, configuration, state).context(place)?;
                match unset.is_empty() {
                    true => Server::Command(Program { words, env, folder, sandbox }),
                    false => Server::Unset(unset),
                }
            }
            _ => return Err(wrong("set either `command` or `url`".to_owned()).into()),
        };
        all.push(NamedServer { name: name.clone(), server, limit });
    }
    Ok(all)
}

/// Returns the sandbox for a server's process, if one is configured.
fn confined(
    server: &ServerOptions,
    configuration: &Options,
    state: Option<&StateFolder>,
) -> anyhow::Result<Option<Arc<ConfinedServer>>> {
    let Some(profile) = server.sandbox.filter(|profile| *profile != Profile::Off) else {
        return Ok(None);
    };
    let options = SandboxOptions { profile, ..configuration.tools.sandbox.clone() };
    Ok(Some(Arc::new(ConfinedServer::new(sandbox(state), options)?)))
}

/// Replaces each `${NAME}` in these values with the environment variable. Also returns the names of
/// variables that are not set.
fn all_filled(
    values: &BTreeMap<String, String>,
) -> anyhow::Result<(BTreeMap<String, String>, Vec<String>)> {
    let mut unset = Vec::new();
    let filled = values.iter().map(|(name, value)| {
        let value = with_variables(value, &variable, &mut unset);
        Ok((name.clone(), value.with_context(|| format!("`{name}`"))?))
    });
    let filled = filled.collect::<anyhow::Result<_>>()?;
    Ok((filled, unset))
}

/// Replaces each `${NAME}` in a text with the environment variable.
pub(crate) fn filled(text: &str) -> anyhow::Result<String> {
    let mut unset = Vec::new();
    let filled = with_variables(text, &variable, &mut unset)?;
    if !unset.is_empty() {
        return Err(Complaint::new(not_set(&unset)).help("set it, or leave the header out").into());
    }
    Ok(filled)
}

/// The value of an environment variable, if it is text.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
