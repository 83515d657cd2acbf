//! Shows what a running proxy has seen.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::choices::Colour;
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::terminal::Paint;

/// Options for querying a running proxy
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The proxy's address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8788")]
    address: SocketAddr,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
}

/// The maximum time for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn status(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let report = fetched(global, arguments, "status")?;
    if arguments.json {
        writeln!(io::stdout(), "{report}")?;
        return Ok(Exit::Clean);
    }
    let mut out = io::stdout();
    let text = |name: &str| report.get(name).map(shown).unwrap_or_default();
    writeln!(out, "{:16}{}", "mode", text("mode"))?;
    writeln!(out, "{:16}{} s", "up for", text("up_secs"))?;
    writeln!(out, "{:16}{}, {} open", "sessions", text("sessions"), text("open"))?;
    for (name, title) in [("answers", "answers"), ("findings", "findings"), ("tokens", "tokens")] {
        writeln!(out, "{title:16}{}", counts(report.get(name)))?;
    }
    writeln!(out, "{:16}{}", "refused calls", text("refused_calls"))?;
    writeln!(out, "{:16}{}", "corrections", text("corrections"))?;
    Ok(Exit::Clean)
}

pub(super) fn sessions(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let sessions = fetched(global, arguments, "sessions")?;
    if arguments.json {
        writeln!(io::stdout(), "{sessions}")?;
        return Ok(Exit::Clean);
    }
    let mut out = io::stdout();
    writeln!(out, "requests    calls findings withheld  refused  session")?;
    for session in sessions.as_array().into_iter().flatten() {
        let text = |name: &str| session.get(name).map(shown).unwrap_or_default();
        for name in ["requests", "reported_calls", "findings", "held", "refused_calls"] {
            write!(out, "{:>8} ", text(name))?;
        }
        writeln!(out, " {} ({})", text("session"), text("model"))?;
    }
    Ok(Exit::Clean)
}

pub(super) fn tail(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut reader = connected(global, arguments, "events")?;
    reader.get_ref().set_read_timeout(None)?;
    let paint = Paint::for_output(arguments.color);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let data = line.strip_prefix("data: ").map(str::trim_end);
        if let Some(data) = data {
            match serde_json::from_str::<Value>(data) {
                Ok(exchanged) if !arguments.json => row(&exchanged, paint)?,
                _ => writeln!(io::stdout(), "{data}")?,
            }
        }
        line.clear();
    }
    Ok(Exit::Clean)
}

/// Prints an exchange on one line, with its findings below.
fn row(exchanged: &Value, paint: Paint) -> io::Result<()> {
    let text = |name: &str| exchanged.get(name).map(shown).unwrap_or_default();
    let list = |name: &str| -> Vec<String> {
        let all = exchanged.get(name).and_then(Value::as_array).into_iter().flatten();
        all.map(shown).collect()
    };
    let mut out = io::stdout();
    let time = exchanged.get("at").and_then(Value::as_i64).and_then(|at| {
        let time = jiff::Timestamp::from_millisecond(at).ok()?;
        Some(time.to_zoned(jiff::tz::TimeZone::UTC).strftime("%H:%M:%S").to_string())
    });
    let became = text("became");
    let shown = match became.as_str() {
        "passed" => became.clone(),
        _ => paint.bold(&became),
    };
    write!(
        out,
        "{} {:10} {shown} {} {} ms",
        time.unwrap_or_default(),
        text("wire"),
        text("model"),
        text("took")
    )?;
    let refused = list("refused").into_iter().map(|tool| format!("call to {tool} refused"));
    let rest: Vec<String> = list("findings").into_iter().chain(refused).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("  {}", rest.join(", ")) };
    writeln!(out, "{rest}  {}", text("session"))?;
    for note in list("notes") {
        writeln!(out, "         {note}")?;
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn counts(value: Option<&Value>) -> String {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    let parts: Vec<String> =
        members.map(|(name, count)| format!("{} {name}", shown(count))).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn fetched(global: &Global, arguments: &Arguments, what: &str) -> anyhow::Result<Value> {
    let mut text = String::new();
    connected(global, arguments, what)?.read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

/// Sends the request; returns the body of the response.
fn connected(
    global: &Global,
    arguments: &Arguments,
    what: &str,
) -> anyhow::Result<BufReader<TcpStream>> {
    let options = config::find(&global.place())?.options;
    let key = options.proxy.token_env.and_then(|name| std::env::var(name).ok());
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let address = arguments.address;
    let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| {
        Complaint::new(format!("no proxy is running at {address}: {error}"))
            .help("start one with `counterfoil proxy`, or pass its address with `--address`")
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let host = "Host: localhost\r\nConnection: close\r\n";
    write!(reader.get_mut(), "GET /counterfoil/{what} HTTP/1.0\r\n{host}{key}\r\n")?;
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while !line.trim_end().is_empty() {
        line.clear();
        reader.read_line(&mut line)?;
    }
    if status != "200" {
        let mut why = String::new();
        reader.read_to_string(&mut why)?;
        let body: Option<Value> = serde_json::from_str(&why).ok();
        let text = body.and_then(|body| body.pointer("/error/message").map(shown)).unwrap_or(why);
        let wrong = format!("{address} responded with status {status}: {}", text.trim());
        return Err(Complaint::new(wrong)
            .help(
                "check that this is a Counterfoil proxy; requests from other machines need the \
                 `proxy.token_env` token",
            )
            .into());
    }
    Ok(reader)
}
