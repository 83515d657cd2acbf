use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use counterfoil_model::Digest;
use counterfoil_serve::{ClientOptions, Offer, PinStore, Pins, Server, Servers, inspect, oddities};
use serde_json::{Value, json};

use super::reach::Reach;
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;
use crate::replace::replace;
use crate::servers::configured;
use crate::state::State;

/// Show what a server offers, anything suspicious in it, and what has changed since the server was
/// first seen
///
/// The server is started and queried, but no tool is called.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil mcp inspect -- npx -y @modelcontextprotocol/server-filesystem .
  counterfoil mcp inspect --accept -- npx -y x   accept its current tools
  counterfoil mcp inspect --url https://mcp.example/mcp
  counterfoil mcp inspect                   all configured servers, as one server
  counterfoil mcp inspect --format json -- x

Exit codes: 0 no warnings and no changes, 1 warnings or changes, 2 a server does not respond.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    reach: Reach,
    /// Accept all changes: the current definitions become the new reference
    #[arg(long)]
    accept: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Maximum time to wait for each response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    limit: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Returns the file for a server's pins. Its name depends on the command or URL, because each
/// client has its own name for a server. The configured servers share one file.
pub(super) fn place(state: &State, reach: &Reach) -> PathBuf {
    if !reach.is_named() {
        return state.folder().pins().join("configured.json");
    }
    let digest = Digest::of_json(&json!(reach.words())).to_string();
    let letters = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = reach.own_name().chars().map(letters).collect();
    let file = format!("{name}-{}.json", digest.get(..12).unwrap_or_default());
    state.folder().pins().join(file)
}

pub(super) fn in_file(place: PathBuf) -> Pins {
    Pins::in_store(Box::new(InFile(place)))
}

struct InFile(PathBuf);

impl PinStore for InFile {
    fn read(&self) -> io::Result<Option<String>> {
        match files::read_text(&self.0) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        replace(&self.0, text)
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let reach = &arguments.reach;
    let (server, name) = match reach.is_named() {
        true => (reach.server()?, reach.name()),
        false => {
            let state = global.state()?.folder();
            let servers = configured(&config::find(&global.place())?.options, Some(&state))?;
            let server = match servers.is_empty() {
                // Reports what is missing.
                true => reach.server()?,
                false => Server::Several(Servers::new(servers)),
            };
            (server, "mcp".to_owned())
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the event loop")?;
    let options = ClientOptions::within(Duration::from_secs(arguments.limit));
    let offer = runtime.block_on(inspect(&server, &options)).map_err(|error| {
        let help = match server {
            Server::Remote(_) => {
                "check the address, and whether the server requires a header (`--header`)"
            }
            _ => "run this command by hand to check that it starts an MCP server",
        };
        Complaint::new(format!("`{name}`: {error}")).help(help)
    })?;
    let place = place(&global.state()?.create()?, reach);
    let reference = match (arguments.accept, place.exists()) {
        (true, _) => Reference::Accepted,
        (false, true) => Reference::Earlier,
        (false, false) => Reference::New,
    };
    let pins = in_file(place);
    let changes = match arguments.accept {
        true => accepted(&pins, &offer)?,
        false => changed(&pins, &offer)?,
    };
    let odd = offer.tools.iter().any(|tool| !oddities(tool).is_empty())
        || !odd_instructions(&offer).is_empty();
    match arguments.format {
        Format::Json => json_of(&name, &offer, &changes)?,
        Format::Text => text_of(&name, &offer, &changes, reference)?,
    }
    Ok(match (offer.unreachable.is_empty(), odd || !changes.is_empty()) {
        (false, _) => Exit::Input,
        (true, true) => Exit::Findings,
        (true, false) => Exit::Clean,
    })
}

/// The definitions with which later ones are compared.
#[derive(Debug, Clone, Copy)]
enum Reference {
    /// Those of an earlier time.
    Earlier,
    /// These, because there were none.
    New,
    /// These, because the user accepts them.
    Accepted,
}

/// Accepts all changes, so that none are left.
fn accepted(pins: &Pins, offer: &Offer) -> anyhow::Result<Vec<String>> {
    pins.accept(&offer.tools)?;
    pins.accept_instructions(offer.instructions.as_deref())?;
    pins.accept_greeting(&offer.greeting)?;
    // Prompts and resources are not listed here; the next ones that a client sees become the
    // reference.
    pins.forget_described()?;
    Ok(Vec::new())
}

fn changed(pins: &Pins, offer: &Offer) -> anyhow::Result<Vec<String>> {
    let changes = pins.compare(&offer.tools)?;
    let mut changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    if pins.instructions_changed(offer.instructions.as_deref())? {
        changes
            .push("the server's instructions have changed since they were first seen".to_owned());
    }
    if pins.greeting_changed(&offer.greeting)? {
        let what = "other texts in the server's `initialize` result have changed since they were \
                    first seen";
        changes.push(what.to_owned());
    }
    Ok(changes)
}

fn odd_instructions(offer: &Offer) -> Vec<String> {
    oddities(&json!({ "instructions": offer.instructions }))
}

fn json_of(name: &str, offer: &Offer, changes: &[String]) -> anyhow::Result<()> {
    let tools = offer.tools.iter().map(|tool| json!({ "tool": tool, "odd": oddities(tool) }));
    let shown = json!({
        "name": name,
        "server": offer.server.as_ref().map(|(name, version)| json!({ "name": name, "version": version })),
        "revision": offer.revision,
        "instructions": offer.instructions.as_ref().map(|text| {
            json!({ "text": text, "odd": odd_instructions(offer) })
        }),
        "tools": tools.collect::<Vec<_>>(),
        "changes": changes,
        "unreachable": offer.unreachable,
    });
    writeln!(io::stdout(), "{shown:#}")?;
    Ok(())
}

fn text_of(
    name: &str,
    offer: &Offer,
    changes: &[String],
    reference: Reference,
) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let (of, version) = offer.server.clone().unwrap_or_default();
    let revision = offer.revision.as_deref().unwrap_or("unknown");
    let count = offer.tools.len();
    writeln!(out, "{name}: {of} {version}, protocol {revision}, {count} tools")?;
    let widest = offer.tools.iter().map(|tool| shown(tool, "name").chars().count()).max();
    for tool in &offer.tools {
        let what = shown(tool, "description");
        let line = what.lines().next().unwrap_or_default();
        let short: String = line.chars().take(80).collect();
        let more = if short.len() < what.trim_end().len() { " …" } else { "" };
        let width = widest.unwrap_or_default().min(40);
        writeln!(out, "  {:width$}  {short}{more}", shown(tool, "name"))?;
        for odd in oddities(tool) {
            writeln!(out, "  {:width$}  warning: {}", "", clean(&odd))?;
        }
    }
    for odd in odd_instructions(offer) {
        writeln!(out, "  instructions: warning: {}", clean(&odd))?;
    }
    for name in &offer.unreachable {
        writeln!(out, "unreachable: {name}")?;
    }
    for change in changes {
        writeln!(out, "changed: {}", clean(change))?;
    }
    match (reference, changes.is_empty()) {
        (Reference::Accepted, _) => {
            writeln!(out, "accepted: later versions will be compared with this one")?;
        }
        (Reference::New, _) => {
            writeln!(out, "first seen now: later versions will be compared with this one")?;
        }
        (Reference::Earlier, true) => {
            writeln!(out, "no changes since the server was first seen or accepted")?
        }
        (Reference::Earlier, false) => {
            writeln!(out, "help: review the changes, then pass `--accept` to accept them")?;
        }
    }
    Ok(())
}

fn shown(tool: &Value, member: &str) -> String {
    clean(tool.get(member).and_then(Value::as_str).unwrap_or_default())
}

/// Replaces control characters, so that a server's text cannot control the terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}
