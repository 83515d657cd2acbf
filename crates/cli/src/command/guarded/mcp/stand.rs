//! Runs the gateway between a client and a server, each over streams or over HTTP.

use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use counterfoil_guard::{ExecutorKind, Guard, SessionStart};
use counterfoil_serve::{
    Access, Ended, Gateway, GatewayError, HttpGateway, Limits, NamedServer, Server, Servers, input,
    output, relay, relay_to, serve, serve_http,
};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::runtime::Runtime;

use super::inspect;
use super::reach::{REPLY, Reach};
use crate::config::{self, ListenOptions, Options};
use crate::exit::{Complaint, Exit, note};
use crate::global::Global;
use crate::guard::{Making, settings_beside};
use crate::reload::{announce, follow};
use crate::servers::configured;
use crate::signals::interrupted;
use crate::spans;
use crate::state::State;
use crate::surroundings::environment;

/// What the gateway connects, and how.
#[derive(Debug, Clone, Args)]
pub(super) struct GatewayArguments {
    #[command(flatten)]
    reach: Reach,
    /// Translate between protocol revisions if only one of client and server uses sessions
    #[arg(long, conflicts_with = "builtin")]
    bridge: bool,
    /// Accept clients over HTTP at /mcp on this address (such as `127.0.0.1:8765`) instead of on
    /// standard input and output; `[mcp.listen]` controls who may connect
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["builtin", "session"])]
    listen: Option<SocketAddr>,
    /// Offer Counterfoil's own tools instead of a server's: shell, file, web
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', conflicts_with_all = ["command", "url", "name"])]
    builtin: Vec<Builtin>,
    /// Block a tool whose definition has changed since the server was first seen, until the change
    /// is accepted, as with `mcp.hold_changes = true` [default: changes are only reported]
    #[arg(long, conflicts_with = "builtin")]
    hold_changes: bool,
    /// Resume the session with this id, or start one with this id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Name of the model that the client uses, stored in the record
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The project's root [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

/// Our own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Builtin {
    /// Shell commands
    Shell,
    /// Files
    File,
    /// Web pages
    Web,
}

impl From<Builtin> for ExecutorKind {
    fn from(builtin: Builtin) -> Self {
        match builtin {
            Builtin::Shell => Self::Shell,
            Builtin::File => Self::File,
            Builtin::Web => Self::Web,
        }
    }
}

/// What every kind of connection needs.
struct Standing {
    arguments: GatewayArguments,
    options: Options,
    guard: Guard,
    state: State,
    start: SessionStart,
    /// The configured servers, if no other server is named.
    servers: Servers,
}

pub(super) fn stand_between(global: &Global, arguments: &GatewayArguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let kinds: Vec<ExecutorKind> = arguments.builtin.iter().map(|one| (*one).into()).collect();
    let state = global.state()?.create()?;
    let making = Making {
        state: Some(state.clone()),
        workspace: arguments.workspace.clone(),
        ..Making::new(&options)
    };
    let guard = making.offering(&kinds)?;
    guard.notices().iter().try_for_each(note)?;
    if arguments.listen.is_none() && io::stdin().is_terminal() {
        note(
            "waiting for an MCP client on standard input; normally the client starts this \
             command",
        )?;
    }
    let start = session(arguments);
    let servers = match arguments.reach.is_named() {
        true => Vec::new(),
        false => configured(&options, Some(&state.folder()))?,
    };
    let servers = Servers::new(servers);
    let standing = Standing { arguments: arguments.clone(), options, guard, state, start, servers };
    let runtime = event_loop(arguments)?;
    let exit = runtime.block_on(async {
        let (guard, servers) = (standing.guard.clone(), standing.servers.clone());
        let folder = standing.state.folder();
        let follows = !arguments.reach.is_named();
        let apply = move |options: Options| {
            if follows {
                servers.replace(configured(&options, Some(&folder))?);
            }
            guard.reload(settings_beside(&options, Some(&folder))?);
            Ok(())
        };
        tokio::spawn(follow(global.place(), apply, announce));
        let guard = standing.guard.clone();
        let standing = async {
            match arguments.listen {
                Some(address) => standing.over_http(address).await,
                None if !kinds.is_empty() => standing.own_tools().await,
                None if arguments.reach.command.is_empty() || arguments.bridge => {
                    standing.over_streams().await
                }
                None => standing.before_process().await,
            }
        };
        spans::beside(&guard, kinds.is_empty(), standing).await
    });
    // A thread may still be blocked in a read of standard input.
    runtime.shutdown_background();
    exit
}

fn session(arguments: &GatewayArguments) -> SessionStart {
    SessionStart {
        id: arguments.session.clone(),
        model: arguments.model.clone(),
        // Rules may name files below the home folder.
        environment: environment().into_iter().filter(|(name, _)| name == "HOME").collect(),
        ..SessionStart::default()
    }
}

fn event_loop(arguments: &GatewayArguments) -> anyhow::Result<Runtime> {
    let runtime = match arguments.listen {
        Some(_) => tokio::runtime::Builder::new_multi_thread().enable_all().build(),
        // One thread: passing a message on is faster than waking another thread.
        None => tokio::runtime::Builder::new_current_thread().enable_all().build(),
    };
    runtime.context("cannot start the event loop")
}

impl Standing {
    async fn own_tools(self) -> anyhow::Result<Exit> {
        let session = self.guard.session(self.start)?;
        tokio::select! {
            served = serve(&self.guard, &session, input(), output()) => {
                served.context("the connection to the client failed")?;
            }
            () = interrupted() => {}
        }
        session.end().await?;
        Ok(Exit::Clean)
    }

    async fn before_process(self) -> anyhow::Result<Exit> {
        let reach = &self.arguments.reach;
        let Some((program, rest)) = reach.command.split_first() else { return Ok(Exit::Input) };
        let (gateway, name) = (self.gateway()?, reach.name());
        let mut command = Command::new(program);
        command.args(rest);
        Ok(match relay(&gateway, command, (input(), output()), interrupted()).await? {
            Ended::Client => Exit::Clean,
            Ended::Server(code) => {
                let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
                writeln!(io::stderr(), "error: the MCP server `{name}` exited{code}")?;
                Exit::Findings
            }
        })
    }

    async fn over_streams(self) -> anyhow::Result<Exit> {
        relay_to(&self.server()?, self.gateway()?, (input(), output()), interrupted()).await?;
        Ok(Exit::Clean)
    }

    async fn over_http(self, address: SocketAddr) -> anyhow::Result<Exit> {
        let listen = &self.options.mcp.listen;
        let access = access(listen, address)?;
        let limits = Limits {
            max_body_bytes: listen.max_body_bytes,
            max_sessions: listen.max_sessions,
            idle: Duration::from_secs(listen.idle_secs),
        };
        let (server, guard) = (self.server()?, self.guard.clone());
        let gateway_server = HttpGateway::new(server, access, limits, move || self.gateway());
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on `{address}`"))?;
        note(format!("listening on http://{}/mcp", listener.local_addr()?))?;
        serve_http(Arc::new(gateway_server), listener, guard.events(), interrupted()).await?;
        Ok(Exit::Clean)
    }

    /// Creates the gateway for a client.
    fn gateway(&self) -> Result<Gateway, GatewayError> {
        let mcp = &self.options.mcp;
        let pins = inspect::pins(&self.state, &self.arguments.reach, &self.servers);
        let holds = self.arguments.hold_changes || mcp.hold_changes;
        let gateway = Gateway::new(self.guard.clone(), self.start.clone(), &self.name())?;
        Ok(gateway.watching(pins, holds).redacting(mcp.redact_results))
    }

    /// Returns the server behind the gateway.
    fn server(&self) -> anyhow::Result<Server> {
        let reach = &self.arguments.reach;
        if !reach.is_named() && !self.servers.is_empty() {
            return Ok(Server::Several(self.servers.clone()));
        }
        let server = reach.server()?;
        if !self.arguments.bridge {
            return Ok(server);
        }
        let name = reach.name();
        Ok(Server::Bridged(Servers::new(vec![NamedServer { name, server, limit: REPLY }])))
    }

    fn name(&self) -> String {
        if self.arguments.reach.is_named() { self.arguments.reach.name() } else { "mcp".to_owned() }
    }
}

fn access(listen: &ListenOptions, address: SocketAddr) -> anyhow::Result<Access> {
    let token = match &listen.token_env {
        Some(name) => {
            let token = std::env::var(name).ok().filter(|token| !token.is_empty());
            Some(token.ok_or_else(|| {
                let what = format!("`mcp.listen.token_env`: variable `{name}` is not set");
                Complaint::new(what).help(format!("set it with `export {name}=…`"))
            })?)
        }
        None => None,
    };
    if token.is_none() && !address.ip().is_loopback() && !listen.allow_anyone {
        let what = format!(
            "`{address}` is reachable from other machines, and no client token is required"
        );
        let help = "set `mcp.listen.token_env` to the name of an environment variable that holds \
            a token, listen on 127.0.0.1, or set `mcp.listen.allow_anyone = true`";
        return Err(Complaint::new(what).help(help).into());
    }
    Ok(Access {
        section: "mcp.listen",
        hosts: listen.hosts.clone(),
        origins: listen.origins.clone(),
        token,
        requests_per_minute: listen.requests_per_minute,
    })
}
