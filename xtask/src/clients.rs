//! `cargo xtask clients`: real clients call tools of real servers through the gateway.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::process::{Running, built};

/// What to install: two generations of the Python SDK with servers, and npm packages.
const FIRST: [&str; 5] =
    ["mcp==1.30.0", "fastmcp", "mcp-fuzzer", "mcp-server-git", "mcp-server-time"];
const SECOND: [&str; 1] = ["mcp==2.3.0"];
const NPM: [&str; 4] = [
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/inspector",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// The folder in which clients and servers are installed.
    #[arg(long, default_value = "target/clients")]
    folder: PathBuf,
}

/// A server, with one call and the expected answer.
struct Real {
    name: &'static str,
    command: Vec<String>,
    tool: &'static str,
    arguments: Value,
    answer: &'static str,
}

/// The client that calls.
#[derive(Clone, Copy)]
enum Caller {
    /// Python, with sessions.
    Session,
    /// Python, in this wire mode.
    Either(&'static str),
    JavaScript,
    Rmcp,
    Inspector,
}

impl Caller {
    const ALL: [Self; 6] = [
        Self::Session,
        Self::Either("legacy"),
        Self::Either("2026-07-28"),
        Self::JavaScript,
        Self::Rmcp,
        Self::Inspector,
    ];

    fn name(self) -> String {
        match self {
            Self::Session => "Python `mcp` 1.30".to_owned(),
            Self::Either("legacy") => "Python `mcp` 2.3".to_owned(),
            Self::Either(mode) => format!("Python `mcp` 2.3, {mode}"),
            Self::JavaScript => "`@modelcontextprotocol/client`".to_owned(),
            Self::Rmcp => "rmcp 3.11".to_owned(),
            Self::Inspector => "inspector's CLI".to_owned(),
        }
    }

    fn speaks_streams(self) -> bool {
        matches!(self, Self::Session | Self::Either(_) | Self::Rmcp)
    }

    /// Whether it uses the wire without sessions, which none of the servers supports.
    fn is_alone(self) -> bool {
        matches!(self, Self::Either(mode) if mode != "legacy")
    }
}

struct Desk<'d> {
    root: &'d Path,
    folder: PathBuf,
    binary: PathBuf,
    state: tempfile::TempDir,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let binary = built(&options.binary)?;
    fs::create_dir_all(&options.folder)?;
    let folder = options.folder.canonicalize()?;
    let missing = installed(root, &folder)?;
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.into_iter().collect();
        println!("not checked: {}", missing.join("; "));
        return Ok(());
    }
    let desk = Desk { root, folder, binary, state: tempfile::tempdir()? };
    let servers = desk.servers();
    println!("| client | server | over HTTP | over stdio |\n|---|---|---|---|");
    let mut wrong = Vec::new();
    for caller in Caller::ALL {
        for server in &servers {
            let over_http = desk.over_http(caller, server);
            let over_streams = match caller.speaks_streams() {
                true => Some(desk.over_streams(caller, server)),
                false => None,
            };
            let told = |result: &Result<()>| if result.is_ok() { "yes" } else { "no" };
            let (name, streams) = (caller.name(), over_streams.as_ref().map_or("", told));
            println!("| {name} | {} | {} | {streams} |", server.name, told(&over_http));
            for error in [Some(over_http), over_streams].into_iter().flatten() {
                wrong
                    .extend(error.err().map(|error| format!("{name}, {}: {error:#}", server.name)));
            }
        }
    }
    desk.remote()?;
    println!("\nstdio client, FastMCP server over HTTP: yes");
    println!("{} receipts; `audit verify` holds", desk.receipts()?);
    println!("{}", desk.fuzzed()?);
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Installs what is needed; returns what is missing because a tool is not installed.
fn installed(root: &Path, folder: &Path) -> Result<BTreeSet<&'static str>> {
    let mut missing = BTreeSet::new();
    let mut rmcp = Command::new("cargo");
    rmcp.args(["build", "--quiet", "--release", "--manifest-path"]);
    rmcp.arg(root.join("xtask/clients/rmcp/Cargo.toml"));
    done(rmcp.arg("--target-dir").arg(folder.join("rmcp")))?;
    for (name, packages) in [("first", &FIRST[..]), ("second", &SECOND[..])] {
        let place = folder.join(name);
        if place.join("installed").is_file() {
            continue;
        }
        let made = Command::new("python3").args(["-m", "venv"]).arg(&place).status();
        if !made.is_ok_and(|status| status.success()) {
            missing.insert("`python3 -m venv` does not work here");
            continue;
        }
        let mut pip = Command::new(place.join("bin/pip"));
        done(pip.args(["install", "--quiet"]).args(packages))?;
        fs::write(place.join("installed"), "")?;
    }
    if !folder.join("node_modules/.package-lock.json").is_file() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
        match npm.arg(folder).args(NPM).stdout(Stdio::null()).status() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                missing.insert("npm is missing");
            }
            Err(error) => return Err(error).context("npm"),
            Ok(status) => ensure!(status.success(), "`npm install` ended with {status}"),
        }
    }
    Ok(missing)
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

impl Desk<'_> {
    fn python(&self, name: &str) -> String {
        self.folder.join(name).join("bin/python").display().to_string()
    }

    fn script(&self, name: &str) -> String {
        self.root.join("xtask/clients").join(name).display().to_string()
    }

    fn servers(&self) -> Vec<Real> {
        let npm =
            |name: &str| self.folder.join("node_modules/.bin").join(name).display().to_string();
        let pip = |name: &str| self.folder.join("first/bin").join(name).display().to_string();
        let own = self.root.display().to_string();
        vec![
            Real {
                name: "server-everything",
                command: vec![npm("mcp-server-everything")],
                tool: "get-sum",
                arguments: json!({ "a": 2, "b": 3 }),
                answer: "is 5",
            },
            Real {
                name: "server-filesystem",
                command: vec![npm("mcp-server-filesystem"), own.clone()],
                tool: "list_directory",
                arguments: json!({ "path": own }),
                answer: "Cargo.toml",
            },
            Real {
                name: "mcp-server-git",
                command: vec![pip("mcp-server-git")],
                tool: "git_log",
                arguments: json!({ "repo_path": own, "max_count": 1 }),
                answer: "Commit",
            },
            Real {
                name: "mcp-server-time",
                command: vec![pip("mcp-server-time")],
                tool: "get_current_time",
                arguments: json!({ "timezone": "Europe/Berlin" }),
                answer: "Europe/Berlin",
            },
            Real {
                name: "FastMCP",
                command: vec![self.python("first"), self.script("fast.py")],
                tool: "add",
                arguments: json!({ "a": 2, "b": 3 }),
                answer: "5",
            },
        ]
    }

    /// Returns the command of the gateway in front of a server.
    fn gateway(&self, caller: Caller, more: &[&str]) -> Vec<String> {
        let state = self.state.path().display().to_string();
        let mut words = vec![self.binary.display().to_string(), "--state".to_owned(), state];
        words.push("mcp".to_owned());
        words.extend(caller.is_alone().then(|| "--bridge".to_owned()));
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words
    }

    fn over_streams(&self, caller: Caller, server: &Real) -> Result<()> {
        let mut words = self.gateway(caller, &["--"]);
        words.extend(server.command.iter().cloned());
        self.call(caller, &json!(words).to_string(), server)
    }

    fn over_http(&self, caller: Caller, server: &Real) -> Result<()> {
        let (_gateway, url) = self.listening(caller, server)?;
        self.call(caller, &url, server)
    }

    /// Starts the gateway over HTTP in front of a server; returns it with its URL.
    fn listening(&self, caller: Caller, server: &Real) -> Result<(Running, String)> {
        let mut words = self.gateway(caller, &["--listen", "127.0.0.1:0", "--"]);
        words.extend(server.command.iter().cloned());
        let (program, rest) = words.split_first().context("no command")?;
        let mut command = Command::new(program);
        command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut gateway = Running(command.spawn()?);
        let mut lines = BufReader::new(gateway.0.stderr.take().context("no streams")?).lines();
        let url = lines.by_ref().find_map(|line| {
            let line = line.ok()?;
            Some(line.get(line.find("http://")?..)?.to_owned())
        });
        // Keep reading its output, or the gateway would block.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok((gateway, url.context("the gateway does not listen")?))
    }

    /// Makes one call and checks its answer and its receipt.
    fn call(&self, caller: Caller, target: &str, server: &Real) -> Result<()> {
        let arguments = server.arguments.to_string();
        let mut command = match caller {
            Caller::Session | Caller::Either(_) => {
                let (python, script) = match caller {
                    Caller::Session => ("first", "session.py"),
                    _ => ("second", "either.py"),
                };
                let mut command = Command::new(self.python(python));
                command.arg(self.script(script)).args([target, server.tool, &arguments]);
                if let Caller::Either(mode) = caller {
                    command.arg(mode);
                }
                command
            }
            Caller::JavaScript => {
                let mut command = Command::new("node");
                command.arg(self.script("client.mjs")).args([target, server.tool, &arguments]);
                command
            }
            Caller::Rmcp => {
                let mut command = Command::new(self.folder.join("rmcp/release/rmcp-client"));
                command.args([target, server.tool, &arguments]);
                command
            }
            Caller::Inspector => {
                let mut command = Command::new(self.folder.join("node_modules/.bin/mcp-inspector"));
                command.args(["--cli", target, "--transport", "http", "--method", "tools/call"]);
                command.args(["--tool-name", server.tool]);
                for (name, value) in server.arguments.as_object().into_iter().flatten() {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    command.args(["--tool-arg", &format!("{name}={text}")]);
                }
                command
            }
        };
        let said = heard(command.current_dir(&self.folder))?;
        ensure!(said.contains(server.answer), "the answer is not right: {said}");
        ensure!(said.contains(server.tool), "the answer has no receipt: {said}");
        Ok(())
    }

    /// Calls a server over HTTP with a client over standard streams.
    fn remote(&self) -> Result<()> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(self.python("first"));
        command.arg(self.script("fast.py")).arg(port.to_string());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let _server = Running(command.spawn()?);
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(began.elapsed() < Duration::from_secs(30), "FastMCP does not listen");
            std::thread::sleep(Duration::from_millis(100));
        }
        let url = format!("http://127.0.0.1:{port}/mcp");
        let words = json!(self.gateway(Caller::Session, &["--url", &url])).to_string();
        let server = self.servers().pop().context("no server")?;
        self.call(Caller::Session, &words, &server)
    }

    /// Runs a fuzzer with a fixed seed, and checks that the gateway survives with every receipt
    /// closed.
    fn fuzzed(&self) -> Result<String> {
        let servers = self.servers();
        let server = servers.last().context("no server")?;
        let (gateway, url) = self.listening(Caller::Session, server)?;
        let mut fuzzer = Command::new(self.folder.join("first/bin/mcp-fuzzer"));
        fuzzer.args(["--mode", "all", "--protocol", "streamablehttp", "--endpoint", &url]);
        fuzzer.args(["--phase", "both", "--protocol-phase", "aggressive", "--seed", "7"]);
        fuzzer.args(["--runs", "5", "--runs-per-type", "5", "--tool-timeout", "5"]);
        // Its findings are about the server; here only the gateway matters.
        heard(fuzzer.current_dir(self.state.path())).ok();
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut health = std::net::TcpStream::connect(address).context("the gateway is gone")?;
        health
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let health = std::io::read_to_string(health)?;
        ensure!(health.starts_with("HTTP/1.1 200"), "the gateway is not well: {health}");
        drop(gateway);
        Ok(format!(
            "fuzzed: the gateway is well; {} receipts; `audit verify` holds",
            self.receipts()?
        ))
    }

    /// Returns the number of calls in a record that verifies.
    fn receipts(&self) -> Result<usize> {
        let audit = |words: &[&str]| {
            let mut command = Command::new(&self.binary);
            command.arg("--state").arg(self.state.path()).arg("audit").args(words).output()
        };
        let verified = audit(&["verify"])?;
        ensure!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
        let mut stats = Command::new(&self.binary);
        stats.arg("--state").arg(self.state.path()).args(["stats", "--format", "json"]);
        let stats: Value = serde_json::from_slice(&stats.output()?.stdout)?;
        let open = stats.pointer("/by_status/open");
        ensure!(stats.get("by_status").is_some() && open.is_none(), "calls are open: {stats}");
        let found = audit(&["query", "--format", "jsonl"])?;
        Ok(found.stdout.iter().filter(|byte| **byte == b'\n').count())
    }
}

/// Returns the output of a command, which must end within a minute.
fn heard(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().with_context(|| format!("{command:?}"))?);
    let began = Instant::now();
    let status = loop {
        if let Some(status) = running.0.try_wait()? {
            break status;
        }
        if began.elapsed() > Duration::from_secs(60) {
            bail!("{command:?} takes longer than a minute");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = std::io::read_to_string(running.0.stdout.take().context("no output")?)?;
    if !status.success() {
        let errors = std::io::read_to_string(running.0.stderr.take().context("no output")?)?;
        bail!("{status}: {said}{errors}");
    }
    Ok(said)
}
