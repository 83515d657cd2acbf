//! Standing between agents and their models.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use counterfoil_serve::{
    Proxy, ProxyOptions, ProxyOptionsError, ProxySettings, serve_proxy, tls_of,
};
use tokio::net::TcpListener;
use tokio::process::Command;

use super::super::Global;
use super::Standing;
use crate::config::{self, Options};
use crate::exit::{Complaint, Exit};
use crate::guard::{Making, settings_beside};
use crate::reload::follow;
use crate::signals::interrupted;
use crate::spans;

pub(super) fn stand_between(
    global: &Global,
    standing: &Standing,
    listen: SocketAddr,
    program: Option<&[String]>,
) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let settings = settings(&options, standing)?;
    let said = said(&options, standing);
    may_listen(&said, listen)?;
    let tls = match (&said.tls_cert, &said.tls_key) {
        (Some(certificates), Some(key)) => Some(tls_of(certificates, key)?),
        _ => None,
    };
    let state = global.state()?.create()?;
    let making = Making {
        options: &options,
        state: Some(state.clone()),
        approver: None,
        workspace: standing.workspace.clone(),
    };
    let guard = making.offering(&[])?;
    for notice in guard.notices() {
        writeln!(io::stderr(), "note: {notice}")?;
    }
    let mode = said.mode.name();
    let proxy = Arc::new(Proxy::new(guard.clone(), settings));
    // Those that block read and judge: more than there are processors help nobody.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().max_blocking_threads(8).enable_all().build();
    let runtime = runtime.context("the event loop cannot be started")?;
    let folder = state.folder();
    let exit = runtime.block_on(async {
        let listener = TcpListener::bind(listen)
            .await
            .with_context(|| format!("`{listen}` cannot be listened on"))?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let address = format!("{scheme}://{}", listener.local_addr()?);
        let (reloaded, ruled) = (Arc::clone(&proxy), guard.clone());
        let (upstream, chosen) = (standing.upstream.clone(), standing.mode);
        tokio::spawn(follow(global.place(), move |options| {
            let standing = Standing { upstream: upstream.clone(), mode: chosen, workspace: None };
            reloaded.reload(self::settings(options, &standing)?);
            ruled.reload(settings_beside(options, Some(&folder))?);
            Ok(())
        }));
        let answering = Arc::clone(&proxy);
        let work = async {
            match program {
                None => {
                    writeln!(
                        io::stderr(),
                        "note: {mode}: agents ask {address}/v1 (OpenAI) or {address} (Anthropic)"
                    )?;
                    serve_proxy(proxy, listener, tls, interrupted()).await?;
                    Ok(Exit::Clean)
                }
                Some(program) => beside(proxy, listener, &address, program).await,
            }
        };
        spans::beside_proxy(&guard, &answering, work).await
    });
    runtime.shutdown_background();
    exit
}

/// Runs a program that asks here, to its end.
async fn beside(
    proxy: Arc<Proxy>,
    listener: TcpListener,
    address: &str,
    program: &[String],
) -> anyhow::Result<Exit> {
    let Some((name, arguments)) = program.split_first() else { return Ok(Exit::Input) };
    let mut command = Command::new(name);
    command.args(arguments);
    for variable in ["OPENAI_BASE_URL", "OPENAI_API_BASE"] {
        command.env(variable, format!("{address}/v1"));
    }
    command.env("ANTHROPIC_BASE_URL", address);
    let started = command.spawn();
    let mut child = started.map_err(|error| {
        Complaint::new(format!("`{name}` cannot be started: {error}"))
            .help("behind `--` stands the program that asks a model, with its arguments")
    })?;
    let ended = Arc::new(tokio::sync::Notify::new());
    let stop = Arc::clone(&ended);
    let serving = tokio::spawn(async move {
        serve_proxy(proxy, listener, None, async move { stop.notified().await }).await
    });
    let status = child.wait().await?;
    ended.notify_one();
    serving.await.context("the proxy broke")??;
    match status.code() {
        Some(0) => Ok(Exit::Clean),
        // Whoever began it wants to know how it ended.
        Some(code) => std::process::exit(code),
        None => Ok(Exit::Internal),
    }
}

/// What was said, on the command line before the configuration.
fn said(options: &Options, standing: &Standing) -> ProxyOptions {
    let mut said = options.proxy.clone();
    if let Some(url) = &standing.upstream {
        said.openai_url.clone_from(url);
        said.anthropic_url.clone_from(url);
    }
    said.mode = standing.mode.map_or(said.mode, Into::into);
    said
}

fn settings(options: &Options, standing: &Standing) -> anyhow::Result<ProxySettings> {
    let said = said(options, standing);
    let variable = |name: &str| std::env::var(name).ok();
    said.resolve(variable).map_err(|error| {
        let help = match &error {
            ProxyOptionsError::Url { .. } => "for instance `--upstream https://api.openai.com`",
            ProxyOptionsError::Plain { .. } => "use `https`, or say `proxy.allow_http = true`",
            ProxyOptionsError::NoKey(_) => "set it, or take the key out of the configuration",
            _ => "see `counterfoil config show`",
        };
        Complaint::new(error.to_string()).help(help).into()
    })
}

fn may_listen(said: &ProxyOptions, address: SocketAddr) -> anyhow::Result<()> {
    if address.ip().is_loopback() || !said.keys.is_empty() {
        return Ok(());
    }
    let what = format!("`{address}` can be reached from elsewhere, and agents need no key of ours");
    if said.allow_anyone {
        writeln!(io::stderr(), "warning: {what}: whoever reaches it may ask")?;
        return Ok(());
    }
    let help = "give agents keys (`[[proxy.keys]]`), listen on 127.0.0.1, or say \
                `proxy.allow_anyone = true`";
    Err(Complaint::new(what).help(help).into())
}
