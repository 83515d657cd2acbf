use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use counterfoil_guard::{Randomness as _, SystemRandomness};
use counterfoil_serve::{
    Access, AccessToken, Dashboard, DashboardParts, PolicyRead, Role, serve_dashboard,
};
use tokio::net::TcpListener;
use toml::Table;

use crate::approver::user;
use crate::config::{self, Options, Place};
use crate::exit::{Complaint, Exit, note};
use crate::files;
use crate::global::Global;
use crate::guard::{self, Making};
use crate::signals::interrupted;

/// The maximum number of requests per minute from one address.
const REQUESTS: u32 = 6_000;

/// The minimum length of a token.
const SHORTEST: usize = 16;

/// Serve the dashboard and the HTTP API: sessions, receipts, approvals
///
/// The dashboard shows sessions as timelines, receipts with their proofs, answers with their claims
/// underlined, rejections, pending approvals, and the policy with replay. It is updated live.
/// Without a token file, the command prints a link with which one browser can sign in, and a new
/// link after each use.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil serve                                serve on http://127.0.0.1:7420
  counterfoil serve --read-only
  counterfoil serve --token-file tokens --listen 10.0.0.5:7420
  curl -H 'Authorization: Bearer TOKEN' http://127.0.0.1:7420/api/v1/receipts

A token file has one token per line: its role (`read` or `operate`), the token (16 characters or
more), and a name: `operate 2f0c9a71b3d4e586 ada`. The file must be readable only by its owner.

Exit codes: 0 stopped, 2 usage or input error.")]
pub(crate) struct Arguments {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    listen: SocketAddr,
    /// Do not allow approvals to be granted or refused here
    #[arg(long)]
    read_only: bool,
    /// A file with tokens and their roles; required if other machines can connect
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A host name to accept, in addition to those of this machine: `NAME` or `NAME:PORT`
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let tokens = match &arguments.token_file {
        Some(path) => tokens(path)?,
        None => Vec::new(),
    };
    may_listen(arguments)?;
    let state = global.state()?.create()?;
    let audit = state.folder().audit();
    let making = Making { state: Some(state), ..Making::new(&options) };
    let guard = making.offering(&[])?;
    guard.notices().iter().try_for_each(note)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("cannot start the event loop")?;
    let exit = runtime.block_on(async {
        let listener = TcpListener::bind(arguments.listen)
            .await
            .with_context(|| format!("cannot listen on `{}`", arguments.listen))?;
        let address = listener.local_addr()?;
        let browser_host = browser_host(arguments, address)?;
        let shown = browser_host.clone().unwrap_or_else(|| address.to_string());
        let announced = announced(shown, arguments.token_file.as_deref())?;
        let place = global.place();
        let dashboard = Dashboard::new(DashboardParts {
            guard,
            policy: Box::new(move |text| {
                policy(&place, text).map_err(|error| format!("{error:#}"))
            }),
            audit: Some(audit),
            version: env!("CARGO_PKG_VERSION"),
            access: access(arguments, address, browser_host.as_deref()),
            browser_host,
            tokens,
            most: if arguments.read_only { Role::Read } else { Role::Operate },
            announce: announced,
            operator: user(),
        })?;
        serve_dashboard(Arc::new(dashboard), listener, interrupted()).await?;
        Ok(Exit::Clean)
    });
    runtime.shutdown_background();
    exit
}

/// Prints the address, with a sign-in token in the link if there is no token file.
fn announced(
    address: String,
    tokens: Option<&Path>,
) -> anyhow::Result<Option<Box<dyn Fn(&str) + Send + Sync>>> {
    if let Some(path) = tokens {
        let link = format!("http://{address}; sign in with a token from {}", path.display());
        note(format!("listening on {link}"))?;
        return Ok(None);
    }
    Ok(Some(Box::new(move |token| {
        // Standard error may be closed.
        let _unread = writeln!(
            io::stderr(),
            "note: this link can be used to sign in with one browser: \
             http://{address}/login?token={token}"
        );
    })))
}

/// Returns the policy in force, or the policy of a configuration with this text.
fn policy(place: &Place, text: Option<&str>) -> anyhow::Result<PolicyRead> {
    let options = match text {
        None => config::find(place)?.options,
        Some(text) => config::pasted(text)?,
    };
    let shown = match text {
        Some(text) => text.to_owned(),
        None => tools_of(&options)?,
    };
    Ok(PolicyRead { text: shown, gates: guard::gates(&options, None)? })
}

/// Returns the sections that decide about calls, as TOML.
fn tools_of(options: &Options) -> anyhow::Result<String> {
    let mut table = Table::try_from(options)?;
    table.retain(|key, _| key == "tools");
    Ok(toml::to_string_pretty(&table)?)
}

/// Creates a random host name for browsers, because they send the cookie of `127.0.0.1` to every
/// program that listens there, including an agent's. Returns `None` if `--host` names one, or the
/// address is not a loopback address.
fn browser_host(arguments: &Arguments, address: SocketAddr) -> anyhow::Result<Option<String>> {
    if !arguments.host.is_empty() || !address.ip().is_loopback() {
        return Ok(None);
    }
    let mut bytes = [0_u8; 10];
    let filled = SystemRandomness.fill(&mut bytes);
    filled.context("cannot generate a host name for this server")?;
    let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(format!("cf-{name}.localhost:{}", address.port())))
}

fn access(arguments: &Arguments, address: SocketAddr, browsers: Option<&str>) -> Access {
    let mut hosts = arguments.host.clone();
    hosts.extend(browsers.map(str::to_owned));
    if !address.ip().is_unspecified() {
        hosts.push(address.to_string());
    }
    let origins =
        hosts.iter().flat_map(|host| [format!("http://{host}"), format!("https://{host}")]);
    Access {
        section: "--host",
        origins: origins.collect(),
        hosts,
        token: None,
        requests_per_minute: Some(REQUESTS),
    }
}

fn may_listen(arguments: &Arguments) -> anyhow::Result<()> {
    let address = arguments.listen;
    if address.ip().is_loopback() || arguments.token_file.is_some() {
        return Ok(());
    }
    let what = format!("`{address}` is reachable from other machines, and no token is configured");
    Err(Complaint::new(what)
        .help("issue tokens with `--token-file FILE`, or listen on 127.0.0.1")
        .into())
}

/// Reads the tokens from a file, which only its owner may be able to read.
fn tokens(path: &Path) -> anyhow::Result<Vec<AccessToken>> {
    let text = files::read_text(path)
        .with_context(|| format!("cannot read the token file {}", path.display()))?;
    is_private(path)?;
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let tokens = lines
        .map(|(number, line)| {
            token(line).map_err(|why| {
                let what = format!("{}:{number}: {why}", path.display());
                Complaint::new(what).help(
                    "write each line as `ROLE TOKEN [NAME]`, for example `read \
                        2f0c9a71b3d4e586 ada`",
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    if tokens.is_empty() {
        let what = format!("the token file {} contains no tokens", path.display());
        return Err(Complaint::new(what).help("write each line as `ROLE TOKEN [NAME]`").into());
    }
    Ok(tokens)
}

fn token(line: &str) -> Result<AccessToken, String> {
    let mut words = line.split_whitespace();
    let role = match words.next() {
        Some("read") => Role::Read,
        Some("operate") => Role::Operate,
        _ => return Err("the role must be `read` or `operate`".to_owned()),
    };
    let token = words.next().unwrap_or_default().to_owned();
    if token.len() < SHORTEST {
        return Err(format!("a token must have at least {SHORTEST} characters"));
    }
    let name = words.collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { "unnamed".to_owned() } else { name };
    Ok(AccessToken { token, role, name })
}

#[cfg(unix)]
fn is_private(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let what = format!("other users can read the token file {} (mode {mode:o})", path.display());
    Err(Complaint::new(what).help(format!("run `chmod 600 {}`", path.display())).into())
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_role_and_a_length() {
        for (line, expected) in [
            ("read 0123456789abcdef", Ok((Role::Read, "unnamed"))),
            ("operate 0123456789abcdef ada l.", Ok((Role::Operate, "ada l."))),
            ("admin 0123456789abcdef", Err("the role must be `read` or `operate`")),
            ("read short", Err("a token must have at least 16 characters")),
            ("read", Err("a token must have at least 16 characters")),
        ] {
            let found = token(line);
            let found = found.as_ref().map(|one| (one.role, one.name.as_str()));
            assert_eq!(found.map_err(String::as_str), expected, "{line}");
        }
    }
}
