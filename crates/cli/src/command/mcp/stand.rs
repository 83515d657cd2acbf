//! Standing between a client and a server: over streams or over HTTP, on either side.

use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use counterfoil_guard::{ExecutorKind, Guard, SessionStart};
use counterfoil_serve::{
    Door, Ended, Face, Gateway, Limits, Program, Remote, Server, input, output, relay, relay_to,
    serve, serve_http,
};
use tokio::net::TcpListener;
use tokio::process::Command;

use super::super::Global;
use super::{Arguments, inspect, name_of};
use crate::config::{self, ListenOptions, Options};
use crate::exit::{Complaint, Exit};
use crate::guard::Making;
use crate::reload::follow;
use crate::signals::interrupted;
use crate::state::State;

/// What all ways have.
struct Standing<'a> {
    arguments: &'a Arguments,
    options: Options,
    guard: Guard,
    state: State,
    start: SessionStart,
}

pub(super) fn stand_between(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let kinds: Vec<ExecutorKind> = arguments.builtin.iter().map(|one| (*one).into()).collect();
    let state = global.state()?.create()?;
    let making = Making {
        options: &options,
        state: Some(state.clone()),
        approver: None,
        workspace: arguments.workspace.clone(),
    };
    let guard = making.offering(&kinds)?;
    for notice in guard.notices() {
        writeln!(io::stderr(), "note: {notice}")?;
    }
    if arguments.listen.is_none() && io::stdin().is_terminal() {
        writeln!(io::stderr(), "note: an MCP client starts this and speaks on standard input")?;
    }
    let start = SessionStart {
        id: arguments.session.clone(),
        model: arguments.model.clone(),
        ..SessionStart::default()
    };
    let standing = Standing { arguments, options, guard, state, start };
    let runtime = match arguments.listen {
        Some(_) => tokio::runtime::Builder::new_multi_thread().enable_all().build(),
        // One thread: a message is passed on sooner than another thread wakes up.
        None => tokio::runtime::Builder::new_current_thread().enable_all().build(),
    };
    let runtime = runtime.context("the event loop cannot be started")?;
    let exit = runtime.block_on(async {
        tokio::spawn(follow(global.place(), standing.guard.shell_policy()));
        match (arguments.listen, &arguments.url) {
            (Some(address), _) => standing.over_http(address).await,
            (None, Some(url)) => standing.before_remote(url).await,
            (None, None) if !kinds.is_empty() => standing.own_tools().await,
            (None, None) => standing.before_process().await,
        }
    });
    // A read of standard input that nobody waits for any more may hold its thread.
    runtime.shutdown_background();
    exit
}

impl Standing<'_> {
    async fn own_tools(self) -> anyhow::Result<Exit> {
        let session = self.guard.session(self.start)?;
        tokio::select! {
            served = serve(&self.guard, &session, input(), output()) => {
                served.context("the connection broke")?;
            }
            () = interrupted() => {}
        }
        self.guard.end(&session).await?;
        Ok(Exit::Clean)
    }

    async fn before_process(self) -> anyhow::Result<Exit> {
        let words = &self.arguments.command;
        let Some((program, rest)) = words.split_first() else { return Ok(Exit::Input) };
        let name = self.name();
        let pins = inspect::pins(&self.state, words);
        let gateway = Gateway::new(self.guard, self.start, &name)?
            .watching(pins, self.arguments.hold_changes);
        let mut command = Command::new(program);
        command.args(rest);
        Ok(match relay(&gateway, command, (input(), output()), interrupted()).await? {
            Ended::Client => Exit::Clean,
            Ended::Server(code) => {
                let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
                writeln!(io::stderr(), "error: the MCP server `{name}` ended by itself{code}")?;
                Exit::Findings
            }
        })
    }

    async fn before_remote(self, url: &str) -> anyhow::Result<Exit> {
        let server = self.server(Some(url))?;
        let (name, pins) = (self.name(), inspect::pins(&self.state, &[url.to_owned()]));
        let gateway = Gateway::new(self.guard, self.start, &name)?
            .watching(pins, self.arguments.hold_changes);
        relay_to(&server, gateway, (input(), output()), interrupted()).await?;
        Ok(Exit::Clean)
    }

    async fn over_http(self, address: SocketAddr) -> anyhow::Result<Exit> {
        let listen = &self.options.mcp.listen;
        let door = door(listen, address)?;
        let limits = Limits {
            max_body_bytes: listen.max_body_bytes,
            max_sessions: listen.max_sessions,
            idle: Duration::from_secs(listen.idle_secs),
        };
        let server = self.server(self.arguments.url.as_deref())?;
        let name = self.name();
        let words = match &self.arguments.url {
            Some(url) => vec![url.clone()],
            None => self.arguments.command.clone(),
        };
        let (guard, hold) = (self.guard.clone(), self.arguments.hold_changes);
        let (state, start) = (self.state.clone(), self.start.clone());
        let face = Face::new(server, door, limits, move || {
            let gateway = Gateway::new(guard.clone(), start.clone(), &name)?;
            Ok(gateway.watching(inspect::pins(&state, &words), hold))
        });
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("`{address}` cannot be listened on"))?;
        writeln!(io::stderr(), "note: listening on http://{}/mcp", listener.local_addr()?)?;
        serve_http(Arc::new(face), listener, self.guard.events(), interrupted()).await?;
        Ok(Exit::Clean)
    }

    fn name(&self) -> String {
        let named = self.arguments.name.clone();
        named.unwrap_or_else(|| match &self.arguments.url {
            Some(url) => host_of(url),
            None => name_of(&self.arguments.command),
        })
    }

    fn server(&self, url: Option<&str>) -> anyhow::Result<Server> {
        let Some(url) = url else {
            let words = self.arguments.command.clone();
            return Ok(Server::Command(Program { words, ..Program::default() }));
        };
        let mut headers = Vec::new();
        for header in &self.arguments.header {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                Complaint::new(format!("`{header}` is not a header"))
                    .help("write it as `NAME: VALUE`; `${VARIABLE}` stands for the environment's")
            })?;
            headers.push((name.trim().to_owned(), filled(value.trim())?));
        }
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(Server::Remote(Remote::new(url, headers, REPLY)?))
    }
}

/// How long a server over HTTP may take until its answer begins.
const REPLY: Duration = Duration::from_secs(300);

/// A server over HTTP is called as its host is.
fn host_of(url: &str) -> String {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    host.split(['/', ':', '?']).next().unwrap_or_default().to_owned()
}

/// A text with the variables of the environment that it names: `${NAME}`.
fn filled(text: &str) -> anyhow::Result<String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        filled.push_str(before);
        filled.push_str(&std::env::var(name).with_context(|| format!("`${{{name}}}`"))?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn door(listen: &ListenOptions, address: SocketAddr) -> anyhow::Result<Door> {
    let token = match &listen.token_env {
        Some(name) => {
            let token = std::env::var(name).ok().filter(|token| !token.is_empty());
            Some(token.ok_or_else(|| {
                Complaint::new(format!(
                    "`{name}` holds no token, and `mcp.listen.token_env` says it does"
                ))
                .help(format!("set it: `export {name}=…`"))
            })?)
        }
        None => None,
    };
    if token.is_none() && !address.ip().is_loopback() && !listen.allow_anyone {
        let what = format!("`{address}` can be reached from elsewhere, and clients need no token");
        let help = "name the variable that holds one (`mcp.listen.token_env`), listen on 127.0.0.1, \
                    or say `mcp.listen.allow_anyone = true`";
        return Err(Complaint::new(what).help(help).into());
    }
    Ok(Door {
        hosts: listen.hosts.clone(),
        origins: listen.origins.clone(),
        token,
        requests_per_minute: listen.requests_per_minute,
    })
}
