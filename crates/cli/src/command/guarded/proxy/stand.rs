//! Runs the proxy between agents and their models.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use counterfoil_guard::{Guard, StateFolder};
use counterfoil_proxy::{
    Proxy, ProxyMode, ProxyOptions, ProxyOptionsError, ProxySettings, serve_proxy, tls_of,
};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio_rustls::TlsAcceptor;

use crate::config::{self, Options, Place};
use crate::exit::{Complaint, Exit, note};
use crate::global::Global;
use crate::guard::{Making, settings_beside};
use crate::judge::Judging;
use crate::reload::{announce, follow};
use crate::signals::interrupted;
use crate::spans;

/// The options of the proxy.
#[derive(Debug, Clone, Args)]
pub(super) struct Standing {
    /// The server that receives all requests: its URL up to but not including `/v1` [default:
    /// OpenAI or Anthropic, depending on the request]
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// What to do with an answer that the record does not support [default: annotate]
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
    /// The project's root, for rules about files [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

/// What to do with an answer that the record does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Pass everything through unchanged, and record findings
    Observe,
    /// Add a note below the answer
    Annotate,
    /// Ask the model again; if the new answer is no better, add a note below it
    Correct,
    /// Ask the model again; if the new answer is no better, withhold it
    Block,
}

impl From<Mode> for ProxyMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Observe => Self::Observe,
            Mode::Annotate => Self::Annotate,
            Mode::Correct => Self::Correct,
            Mode::Block => Self::Block,
        }
    }
}

pub(super) fn stand_between(
    global: &Global,
    standing: &Standing,
    listen: SocketAddr,
    program: Option<&[String]>,
) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let settings = settings(&options, standing)?;
    let proxy_options = proxy_options(&options, standing);
    may_listen(&proxy_options, listen)?;
    let tls = match (&proxy_options.tls_cert, &proxy_options.tls_key) {
        // Only the program connects here, so no TLS is needed.
        _ if program.is_some() => None,
        (Some(certificates), Some(key)) => Some(tls_of(certificates, key)?),
        _ => None,
    };
    let state = global.state()?.create()?;
    let making = Making {
        state: Some(state.clone()),
        answer_judge: Judging::answer_judge(&options, options.judge.proxy)?,
        workspace: standing.workspace.clone(),
        ..Making::new(&options)
    };
    let guard = making.offering(&[])?;
    guard.notices().iter().try_for_each(note)?;
    let proxy = Arc::new(Proxy::new(guard.clone(), settings));
    // Blocking threads read and judge; more of them than processors would not help.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().max_blocking_threads(4).enable_all().build();
    let runtime = runtime.context("cannot start the event loop")?;
    let follows = Follows { listen, standing: standing.clone(), folder: state.folder() };
    let exit = runtime.block_on(async {
        let listener = TcpListener::bind(listen)
            .await
            .with_context(|| format!("cannot listen on `{listen}`"))?;
        tokio::spawn(follows.follow(global.place(), Arc::clone(&proxy), guard.clone()));
        let answering = Arc::clone(&proxy);
        let work = async {
            match program {
                None => alone(proxy, listener, tls, proxy_options.mode.name()).await,
                Some(program) => beside(proxy, listener, program).await,
            }
        };
        spans::beside_proxy(&guard, &answering, work).await
    });
    runtime.shutdown_background();
    exit
}

/// What a changed configuration is checked with.
struct Follows {
    listen: SocketAddr,
    standing: Standing,
    folder: StateFolder,
}

impl Follows {
    async fn follow(self, place: Place, proxy: Arc<Proxy>, guard: Guard) {
        let Self { listen, standing, folder } = self;
        let apply = move |options: Options| {
            may_listen(&proxy_options(&options, &standing), listen)?;
            proxy.reload(settings(&options, &standing)?);
            guard.reload(settings_beside(&options, Some(&folder))?);
            Ok(())
        };
        follow(place, apply, announce).await;
    }
}

/// Serves agents until interrupted.
async fn alone(
    proxy: Arc<Proxy>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    mode: &str,
) -> anyhow::Result<Exit> {
    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}", listener.local_addr()?);
    let urls = format!("base URL for agents: {address}/v1 (OpenAI) or {address} (Anthropic)");
    note(format!("mode {mode}; {urls}"))?;
    serve_proxy(proxy, listener, tls, interrupted()).await?;
    Ok(Exit::Clean)
}

/// Runs a program that uses this proxy, until it ends.
async fn beside(
    proxy: Arc<Proxy>,
    listener: TcpListener,
    program: &[String],
) -> anyhow::Result<Exit> {
    let address = format!("http://{}", listener.local_addr()?);
    let Some((name, arguments)) = program.split_first() else { return Ok(Exit::Input) };
    let mut command = Command::new(name);
    command.args(arguments);
    for variable in ["OPENAI_BASE_URL", "OPENAI_API_BASE"] {
        command.env(variable, format!("{address}/v1"));
    }
    command.env("ANTHROPIC_BASE_URL", &address);
    let started = command.spawn();
    let mut child = started.map_err(|error| {
        Complaint::new(format!("cannot start `{name}`: {error}"))
            .help("put the agent's program and its arguments after `--`")
    })?;
    let ended = Arc::new(tokio::sync::Notify::new());
    let stop = Arc::clone(&ended);
    let serving = tokio::spawn(async move {
        serve_proxy(proxy, listener, None, async move { stop.notified().await }).await
    });
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            // The program is asked to end, and decides when.
            () = interrupted() => tell(&child),
        }
    };
    ended.notify_one();
    serving.await.context("the proxy failed")??;
    match status.code() {
        Some(0) => Ok(Exit::Clean),
        // The caller needs the program's exit code.
        Some(code) => std::process::exit(code),
        None => Ok(Exit::Internal),
    }
}

/// Asks a program to end. On a terminal it has already got the interrupt itself.
fn tell(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let process = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(process) = process {
        // It may have ended already.
        kill_process(process, Signal::TERM).ok();
    }
}

/// Returns the proxy's options; the command line overrides the configuration.
fn proxy_options(options: &Options, standing: &Standing) -> ProxyOptions {
    let mut proxy = options.proxy.clone();
    if let Some(url) = &standing.upstream {
        proxy.openai_url.clone_from(url);
        proxy.anthropic_url.clone_from(url);
    }
    proxy.mode = standing.mode.map_or(proxy.mode, Into::into);
    proxy
}

fn settings(options: &Options, standing: &Standing) -> anyhow::Result<ProxySettings> {
    let proxy_options = proxy_options(options, standing);
    let variable = |name: &str| std::env::var(name).ok();
    proxy_options.resolve(variable).map_err(|error| {
        let help = match &error {
            ProxyOptionsError::Url { .. } => {
                "pass a URL such as `--upstream https://api.openai.com`"
            }
            ProxyOptionsError::Plain { .. } => "use `https`, or set `proxy.allow_http = true`",
            ProxyOptionsError::NoKey(_) => {
                "set the variable, or remove the key from the configuration"
            }
            _ => "see `counterfoil config show`",
        };
        Complaint::new(error.to_string()).help(help).into()
    })
}

fn may_listen(proxy: &ProxyOptions, address: SocketAddr) -> anyhow::Result<()> {
    if address.ip().is_loopback() || !proxy.keys.is_empty() {
        return Ok(());
    }
    let what =
        format!("`{address}` is reachable from other machines, and no agent key is required");
    if proxy.allow_anyone {
        writeln!(io::stderr(), "warning: {what}: anyone who can connect may use it")?;
        return Ok(());
    }
    let help = "issue keys to agents (`[[proxy.keys]]`), listen on 127.0.0.1, or set \
        `proxy.allow_anyone = true`";
    Err(Complaint::new(what).help(help).into())
}
