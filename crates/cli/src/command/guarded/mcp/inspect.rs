use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use counterfoil_guard::GuardSettings;
use counterfoil_model::Digest;
use counterfoil_serve::{
    ClientOptions, NamedServer, Offer, PinStore, Pins, Server, Servers, ToolChange, inspect,
    oddities, shown_members, unchecked_arguments,
};
use serde_json::{Value, json};

use super::reach::Reach;
use crate::choices::WholeFormat;
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;
use crate::replace::replace;
use crate::servers::configured;
use crate::state::State;
use counterfoil_report::counted;

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
    #[arg(long, value_enum, default_value_t = WholeFormat::Text)]
    format: WholeFormat,
    /// Maximum time to wait for each response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    limit: u64,
}

/// Returns the pins of a server. The file's name depends on the command or URL, because each client
/// has its own name for a server. Each configured server has its own file.
pub(super) fn pins(state: &State, reach: &Reach, servers: &Servers) -> Pins {
    let folder = state.folder().pins();
    if reach.is_named() {
        let place = folder.join(file_name(&reach.own_name(), &reach.words()));
        return Pins::in_store(Box::new(InFile(place)));
    }
    let store_of = move |server: &NamedServer| -> Box<dyn PinStore> {
        let name = format!("configured-{}", server.name);
        Box::new(InFile(folder.join(file_name(&name, &server.words()))))
    };
    Pins::of_servers(servers.clone(), Box::new(store_of))
}

fn file_name(name: &str, words: &[String]) -> String {
    let digest = Digest::of_json(&json!(words)).to_string();
    let letters = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(letters).collect();
    format!("{name}-{}.json", digest.get(..12).unwrap_or_default())
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
    let options = config::find(&global.place())?.options;
    let settings = options.guard().resolve()?;
    let servers = match reach.is_named() {
        true => Vec::new(),
        false => configured(&options, Some(&global.state()?.folder()))?,
    };
    let servers = Servers::new(servers);
    let (server, name) = match (reach.is_named(), servers.is_empty()) {
        // Without any server, reports what is missing.
        (true, _) | (false, true) => (reach.server()?, reach.name()),
        (false, false) => (Server::Several(servers.clone()), "mcp".to_owned()),
    };
    let offer = offer_of(&server, &name, arguments.limit)?;
    let pins = pins(&global.state()?.create()?, reach, &servers);
    let reference = match (arguments.accept, pins.are_empty()?) {
        (true, _) => Reference::Accepted,
        (false, false) => Reference::Earlier,
        (false, true) => Reference::New,
    };
    let changes = match arguments.accept {
        true => {
            // Prompts and resources are not listed here; the next ones that a client sees become
            // the reference.
            pins.accept_offer(&offer.tools, &offer.greeting, &offer.unreachable)?;
            Vec::new()
        }
        false => changed(&pins, &offer)?,
    };
    let warnings = warnings(&offer, &settings);
    let odd = offer.tools.iter().any(|tool| !doubts(tool).is_empty())
        || !odd_instructions(&offer).is_empty()
        || !warnings.is_empty();
    match arguments.format {
        WholeFormat::Json => json_of(&name, &offer, &changes, &warnings)?,
        WholeFormat::Text => text_of(&name, &offer, &changes, &warnings, reference)?,
    }
    Ok(match (offer.unreachable.is_empty(), odd || !changes.is_empty()) {
        (false, _) => Exit::Input,
        (true, true) => Exit::Findings,
        (true, false) => Exit::Clean,
    })
}

fn offer_of(server: &Server, name: &str, limit: u64) -> anyhow::Result<Offer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the event loop")?;
    let options = ClientOptions::within(Duration::from_secs(limit));
    runtime.block_on(inspect(server, &options)).map_err(|error| {
        let help = match server {
            Server::Remote(_) => {
                "check the address, and whether the server requires a header (`--header`)"
            }
            _ => "run this command by hand to check that it starts an MCP server",
        };
        Complaint::new(format!("`{name}`: {error}")).help(help).into()
    })
}

/// The rules that miss a tool with a similar name.
fn warnings(offer: &Offer, settings: &GuardSettings) -> Vec<String> {
    let names = offer.tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    let idle = settings.idle_rules(&names.collect::<Vec<_>>(), &offer.unreachable);
    idle.iter().map(ToString::to_string).collect()
}

/// What is odd about a tool, and whether its arguments cannot be validated.
fn doubts(tool: &Value) -> Vec<String> {
    let unchecked = unchecked_arguments(tool);
    let unchecked = unchecked.map(|why| format!("some arguments cannot be validated: {why}"));
    oddities(tool).into_iter().chain(unchecked).collect()
}

/// A difference from the pins.
struct Change {
    text: String,
    /// What a person has to review.
    full: Vec<String>,
}

/// The width of a definition that is shown in full.
const WIDTH: usize = 92;

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

fn changed(pins: &Pins, offer: &Offer) -> anyhow::Result<Vec<Change>> {
    let tools = pins.compare(&offer.tools)?;
    let texts = pins.greeting_changes(&offer.greeting)?.into_iter().map(|change| Change {
        text: change.to_string(),
        full: change.instructions.iter().flat_map(|text| text.lines()).map(str::to_owned).collect(),
    });
    Ok(tools.iter().map(|change| in_full(change, offer)).chain(texts).collect())
}

/// A change with the definition as it is now.
fn in_full(change: &ToolChange, offer: &Offer) -> Change {
    let is_it = |tool: &&Value| tool.get("name").and_then(Value::as_str) == Some(change.tool());
    let full = offer.tools.iter().filter(is_it).flat_map(|tool| {
        let members: Vec<String> = match change {
            ToolChange::Changed { members, .. } => members.clone(),
            _ => tool.as_object().into_iter().flat_map(|tool| tool.keys()).cloned().collect(),
        };
        shown_members(tool, &members, WIDTH)
    });
    Change { text: change.to_string(), full: full.collect() }
}

fn odd_instructions(offer: &Offer) -> Vec<String> {
    oddities(&json!({ "instructions": offer.instructions }))
}

fn json_of(
    name: &str,
    offer: &Offer,
    changes: &[Change],
    warnings: &[String],
) -> anyhow::Result<()> {
    let tools = offer.tools.iter().map(|tool| json!({ "tool": tool, "odd": doubts(tool) }));
    let changes: Vec<&str> = changes.iter().map(|change| change.text.as_str()).collect();
    let shown = json!({
        "name": name,
        "server": offer.server.as_ref().map(|(name, version)| json!({ "name": name, "version": version })),
        "revision": offer.revision,
        "instructions": offer.instructions.as_ref().map(|text| {
            json!({ "text": text, "odd": odd_instructions(offer) })
        }),
        "tools": tools.collect::<Vec<_>>(),
        "changes": changes,
        "warnings": warnings,
        "unreachable": offer.unreachable,
    });
    writeln!(io::stdout(), "{shown:#}")?;
    Ok(())
}

fn text_of(
    name: &str,
    offer: &Offer,
    changes: &[Change],
    warnings: &[String],
    reference: Reference,
) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let (of, version) = offer.server.clone().unwrap_or_default();
    let revision = offer.revision.as_deref().unwrap_or("unknown");
    let count = counted(offer.tools.len(), "tool");
    writeln!(out, "{name}: {of} {version}, protocol {revision}, {count}")?;
    let widest = offer.tools.iter().map(|tool| shown(tool, "name").chars().count()).max();
    for tool in &offer.tools {
        let what = shown(tool, "description");
        let line = what.lines().next().unwrap_or_default();
        let short: String = line.chars().take(80).collect();
        let more = if short.len() < what.trim_end().len() { " …" } else { "" };
        let width = widest.unwrap_or_default().min(40);
        writeln!(out, "  {:width$}  {short}{more}", shown(tool, "name"))?;
        for odd in doubts(tool) {
            writeln!(out, "  {:width$}  warning: {}", "", clean(&odd))?;
        }
    }
    for odd in odd_instructions(offer) {
        writeln!(out, "  instructions: warning: {}", clean(&odd))?;
    }
    for name in &offer.unreachable {
        writeln!(out, "unreachable: {name}")?;
    }
    for warning in warnings {
        writeln!(out, "warning: {}", clean(warning))?;
    }
    for change in changes {
        writeln!(out, "changed: {}", clean(&change.text))?;
        for line in &change.full {
            writeln!(out, "    {}", clean(line))?;
        }
    }
    ending(&mut out, offer, changes, reference)
}

/// What the definitions were compared with, and what to do next.
fn ending(
    out: &mut impl io::Write,
    offer: &Offer,
    changes: &[Change],
    reference: Reference,
) -> anyhow::Result<()> {
    match (reference, changes.is_empty()) {
        (Reference::Accepted, _) if !offer.unreachable.is_empty() => {
            writeln!(
                out,
                "accepted: what the servers that could be reached offer; the earlier definitions of the \
                 others remain the reference"
            )?;
        }
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
