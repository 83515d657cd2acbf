//! `cargo xtask bench-gateway`: measures what the MCP gateway adds to a call, and soaks it with
//! very many calls while servers die.

mod http;

use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::process::built;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// Number of timed calls.
    #[arg(long, default_value_t = 2000)]
    calls: u32,
    /// Number of calls while servers die.
    #[arg(long, default_value_t = 100_000)]
    soak: u32,
    /// Another proxy to compare over HTTP: `NAME=COMMAND`, in which `{port}` is the port to listen
    /// on and `{server}` the command of the server behind it.
    #[arg(long, value_name = "NAME=COMMAND")]
    peer: Vec<String>,
}

/// The options of the server behind the gateway.
#[derive(clap::Args)]
pub(crate) struct EchoOptions {
    /// Die instead of answering this call.
    #[arg(long)]
    dies_at: Option<u32>,
    /// Listen over HTTP.
    #[arg(long)]
    http: bool,
}

/// Answers requests, one line each, until its input ends.
pub(crate) fn echo(options: &EchoOptions) -> Result<()> {
    if options.http {
        return http::echo();
    }
    let (mut calls, mut out) = (0, std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        calls += u32::from(request.get("method").is_some_and(|method| method == "tools/call"));
        if calls > 0 && options.dies_at == Some(calls) {
            return Ok(());
        }
        if let Some(answer) = answer(&request) {
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Returns the server's answer; `None` for a notification.
fn answer(request: &Value) -> Option<Value> {
    let id = request.get("id")?;
    let result = match request.get("method").and_then(Value::as_str) {
        Some("tools/list") => {
            let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
            json!({ "tools": [{ "name": "echo", "inputSchema": schema }] })
        }
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "heard" }] }),
        _ => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "echo", "version": "1" },
        }),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// The resident memory of a process in KiB, if the system reports it.
pub(crate) fn memory(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A client that talks to a process.
struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u32,
}

impl Client {
    fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().with_context(|| format!("{command:?}"))?;
        let input = process.stdin.take().context("it has no input")?;
        let output = BufReader::new(process.stdout.take().context("it has no output")?);
        let mut client = Self { process, input, output, requests: 0 };
        client.ask("initialize", &json!({}))?;
        client.ask("tools/list", &json!({}))?;
        Ok(client)
    }

    /// Sends a request; returns the answer, or `None` if the process is gone.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Option<Value>> {
        self.requests += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params });
        if writeln!(self.input, "{request}").and_then(|()| self.input.flush()).is_err() {
            return Ok(None);
        }
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() { Ok(None) } else { Ok(Some(serde_json::from_str(&line)?)) }
    }

    /// Makes a call; returns whether it has a result.
    fn call(&mut self, n: u32) -> Result<bool> {
        let params = json!({ "name": "echo", "arguments": { "n": n } });
        let answer = self.ask("tools/call", &params)?;
        Ok(answer.is_some_and(|answer| answer.get("result").is_some()))
    }

    fn memory(&self) -> Option<u64> {
        memory(self.process.id())
    }

    fn end(mut self) -> Result<()> {
        drop(self.input);
        self.process.wait()?;
        Ok(())
    }
}

/// Starts gateways, and has the folder in which they record.
struct Bench<'b> {
    binary: &'b Path,
    folder: &'b Path,
}

impl Bench<'_> {
    fn echo(dies_at: Option<u32>) -> Result<Vec<String>> {
        let own = std::env::current_exe()?.to_string_lossy().into_owned();
        let dies = dies_at.map(|call| format!("--dies-at={call}"));
        Ok([own, "echo-server".to_owned()].into_iter().chain(dies).collect())
    }

    fn ours(&self, durability: &str, state: &str) -> Result<Command> {
        let config = self.folder.join(format!("{durability}.toml"));
        std::fs::write(&config, format!("[ledger]\ndurability = \"{durability}\"\n"))?;
        let mut command = Command::new(self.binary);
        command.current_dir(self.folder).arg("--config").arg(config);
        command.arg("--state").arg(self.folder.join(state));
        Ok(command)
    }

    fn gateway(&self, durability: &str, state: &str, dies_at: Option<u32>) -> Result<Client> {
        let mut command = self.ours(durability, state)?;
        command.args(["mcp", "--name", "echo", "--session", "bench", "--"]);
        command.args(Self::echo(dies_at)?);
        Client::start(command)
    }
}

fn median(client: &mut Client, calls: u32) -> Result<Duration> {
    let mut times = Vec::new();
    for n in 0..calls {
        let began = Instant::now();
        ensure!(client.call(n)?, "call {n} has no result");
        times.push(began.elapsed());
    }
    middle(times)
}

/// Returns the median time to sync an event on this disk, in a file that does not grow.
fn sync(folder: &Path, count: u32) -> Result<Duration> {
    const EVENT: usize = 700;
    let mut file = std::fs::File::create(folder.join("sync"))?;
    let mut times = Vec::new();
    file.write_all(&vec![0; EVENT * usize::try_from(count)?])?;
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    for _ in 0..count {
        // At the rate at which calls come.
        std::thread::sleep(Duration::from_micros(200));
        let began = Instant::now();
        file.write_all(&[1; EVENT])?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    middle(times)
}

fn middle(mut times: Vec<Duration>) -> Result<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied().context("no call was made")
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = built(&options.binary)?;
    let folder = tempfile::tempdir()?;
    let bench = Bench { binary: &binary, folder: folder.path() };
    let (server, calls) = (Bench::echo(None)?, options.calls);
    let mut command = Command::new(server.first().context("this program has no path")?);
    command.args(server.iter().skip(1));
    let mut direct = Client::start(command)?;
    let without = median(&mut direct, calls)?;
    direct.end()?;
    println!("{calls} calls over stdio, one after the other, median of a call");
    println!("  without a gateway       {:>8.1} µs", micros(without));
    let sync = sync(folder.path(), calls)?;
    println!("  two syncs of this disk  {:>8.1} µs, which `batch` waits for", micros(sync * 2));
    for durability in ["os", "batch"] {
        let mut client = bench.gateway(durability, durability, None)?;
        let with = median(&mut client, calls)?;
        client.end()?;
        println!(
            "  durability {durability:<12} {:>8.1} µs   added {:>8.1} µs",
            micros(with),
            micros(with.saturating_sub(without))
        );
    }
    over_http(&bench, options)?;
    soak(&bench, options.soak)?;
    soak_over_http(&bench, options.soak)
}

/// Measures calls over HTTP, one after the other and in many concurrent sessions.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn over_http(bench: &Bench<'_>, options: &Options) -> Result<()> {
    let calls = options.calls;
    println!(
        "over HTTP: median of {calls} calls one after the other; 32 sessions at once; memory after each"
    );
    let own = std::env::current_exe()?;
    let mut server = Command::new(&own);
    server.args(["echo-server", "--http"]);
    let server = http::Listening::start(server)?;
    let direct = http::measure(&server, calls)?;
    http::show("without a gateway", &direct, None);
    for durability in ["os", "batch"] {
        let state = format!("http-{durability}");
        let mut command = bench.ours(durability, &state)?;
        command.args(["mcp", "--listen", "127.0.0.1:0", "--url", &server.url()]);
        let gateway = http::Listening::start(command)?;
        let measured = http::measure(&gateway, calls)?;
        http::show(&format!("durability {durability}"), &measured, Some(&direct));
        let mut command = bench.ours(durability, &format!("{state}-command"))?;
        command.args(["mcp", "--listen", "127.0.0.1:0", "--"]).arg(&own).arg("echo-server");
        let gateway = http::Listening::start(command)?;
        let measured = http::measure(&gateway, calls)?;
        let name = format!("{durability}, server as command");
        http::show(&name, &measured, Some(&direct));
    }
    for peer in &options.peer {
        let (name, command) = peer.split_once('=').context("a peer is `NAME=COMMAND`")?;
        let peer = http::Listening::peer(command, &format!("{} echo-server", own.display()))?;
        let measured = http::measure(&peer, calls)?;
        http::show(name, &measured, Some(&direct));
    }
    Ok(())
}

/// Soaks one gateway over HTTP whose server dies and is restarted repeatedly.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn soak_over_http(bench: &Bench<'_>, calls: u32) -> Result<()> {
    let own = std::env::current_exe()?;
    let config = bench.folder.join("servers.toml");
    let command = json!([own, "echo-server", "--dies-at", "997"]);
    let text = format!("[ledger]\ndurability = \"os\"\n[mcp.servers.echo]\ncommand = {command}\n");
    std::fs::write(&config, text)?;
    let ours = || {
        let mut command = Command::new(bench.binary);
        command.current_dir(bench.folder).arg("--config").arg(&config);
        command.arg("--state").arg(bench.folder.join("soak-http"));
        command
    };
    let began = Instant::now();
    let mut gateway = ours();
    gateway.args(["mcp", "--listen", "127.0.0.1:0"]);
    let gateway = http::Listening::start(gateway)?;
    let soaked = http::soak(&gateway, "echo__echo", calls)?;
    drop(gateway);
    println!("{calls} calls over HTTP, one gateway, in {:.1} s", began.elapsed().as_secs_f64());
    println!("  calls without a result  {:>8}", soaked.lost);
    let (early, late) = soaked.memory;
    println!(
        "  resident memory         {:>8} MiB after half of them, {} MiB at the end",
        early / 1024,
        late / 1024
    );
    ensure!(late < early + early / 8, "memory grows with the calls");
    let found = ours().args(["audit", "query", "--format", "jsonl"]).output()?;
    let receipts = found.stdout.iter().filter(|byte| **byte == b'\n').count();
    let verified = ours().args(["audit", "verify"]).output()?;
    ensure!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    println!("  receipts, all closed    {receipts:>8}; `audit verify` holds");
    ensure!(receipts == usize::try_from(calls)?, "{calls} calls, {receipts} receipts");
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Makes very many calls in one session, with servers that die.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn soak(bench: &Bench<'_>, calls: u32) -> Result<()> {
    let (began, mut made, mut lost, mut deaths) = (Instant::now(), 0, 0, 0_u32);
    let mut memory = Vec::new();
    while made < calls {
        // Lives of varying length.
        let life = 500 + deaths.wrapping_mul(2_654_435_761) % 3500;
        let mut client = bench.gateway("os", "soak", Some(life))?;
        for n in 1..=life.min(calls - made) {
            lost += u32::from(!client.call(n)?);
            made += 1;
        }
        memory.extend(client.memory());
        deaths += 1;
        client.end()?;
    }
    let (least, most) = (memory.iter().min(), memory.iter().max());
    let mib = |kib: Option<&u64>| kib.map_or(0, |kib| kib / 1024);
    println!("{made} calls, {deaths} gateways in {:.1} s", began.elapsed().as_secs_f64());
    println!("  calls without a result  {lost:>8}");
    println!("  resident memory         {:>8}–{} MiB", mib(least), mib(most));
    let mut verify = bench.ours("os", "soak")?;
    let verified = verify.args(["audit", "verify"]).output()?;
    ensure!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    let mut query = bench.ours("os", "soak")?;
    let found = query.args(["audit", "query", "--tool", "echo", "--format", "jsonl"]).output()?;
    let receipts = found.stdout.iter().filter(|byte| **byte == b'\n').count();
    println!("  receipts, all closed    {receipts:>8}; `audit verify` holds");
    ensure!(receipts == usize::try_from(made)?, "{made} calls, {receipts} receipts");
    Ok(())
}
