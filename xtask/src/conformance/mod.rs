//! `cargo xtask conformance`: runs the official MCP conformance suite against a server, directly
//! and through the gateway, and against our client.

pub(crate) mod client;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::process::{Running, built};

/// What to install: the suite, and a version of Node that can run it.
const PACKAGES: [&str; 2] = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22"];

/// The protocol revisions: with sessions, and without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Scenarios that only a server over HTTP supports: streams that break off on purpose, and single
/// messages that are sent as streams.
const ONLY_HTTP: [&str; 2] = ["server-sse-polling", "server-sse-multiple-streams"];

/// Features that a server with sessions lacks for a client without: tasks, names for its questions,
/// several questions at once, and errors about client capabilities that a tool needs.
const ONLY_ALONE: [&str; 5] = [
    "tasks-",
    "input-required-result-basic-elicitation",
    "input-required-result-ignore-extra-params",
    "input-required-result-multiple-input-requests",
    "server-stateless",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// The folder for the suite and its results.
    #[arg(long, default_value = "target/conformance")]
    folder: PathBuf,
}

/// How the server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Direct,
    /// The gateway, in front of the server over HTTP.
    Http,
    /// The gateway, in front of the server as a command.
    Command,
    /// The gateway, in front of the server on the other wire.
    Bridge,
}

impl Way {
    const ALL: [Self; 4] = [Self::Direct, Self::Http, Self::Command, Self::Bridge];

    fn name(self) -> &'static str {
        match self {
            Self::Direct => "directly",
            Self::Http => "gateway, server over HTTP",
            Self::Command => "gateway, server as a command",
            Self::Bridge => "gateway, server on the other wire",
        }
    }

    /// Whether a scenario may have a worse result over this path.
    fn may_lose(self, scenario: &str) -> bool {
        match self {
            Self::Direct | Self::Http => false,
            Self::Command => ONLY_HTTP.contains(&scenario),
            Self::Bridge => {
                let alone = ONLY_ALONE.iter().any(|known| scenario.starts_with(known));
                alone || ONLY_HTTP.contains(&scenario)
            }
        }
    }
}

/// The numbers of passed and failed checks, by scenario.
#[derive(Default)]
struct Outcome(BTreeMap<String, (u32, u32)>);

impl Outcome {
    fn sum(&self) -> (u32, u32) {
        let add = |all: (u32, u32), one: &(u32, u32)| (all.0 + one.0, all.1 + one.1);
        self.0.values().fold((0, 0), add)
    }

    /// Returns the scenarios in which fewer checks passed or more failed.
    fn worse_than<'o>(&self, other: &'o Self) -> Vec<&'o str> {
        let worse = |(scenario, (passed, failed)): (&_, &(u32, u32))| {
            let (now_passed, now_failed) = self.0.get(scenario).copied().unwrap_or_default();
            now_passed < *passed || now_failed > *failed
        };
        let all = other.0.iter().filter(|row| worse((row.0, row.1)));
        all.map(|(scenario, _)| scenario.as_str()).collect()
    }
}

struct Suite<'s> {
    server: PathBuf,
    binary: &'s Path,
    folder: &'s Path,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let binary = built(&options.binary)?;
    fs::create_dir_all(&options.folder)?;
    let folder = options.folder.canonicalize()?;
    if !installed(&folder)? {
        println!("not checked: npm is missing, and the suite comes from there");
        return Ok(());
    }
    let server = root.join("xtask/conformance/server.mjs");
    let suite = Suite { server, binary: &binary, folder: &folder };
    println!("{}\n", PACKAGES[0]);
    println!("| revision | server | scenarios | checks passed | failed |\n|---|---|---|---|---|");
    let mut lost = Vec::new();
    for revision in REVISIONS {
        let mut direct = Outcome::default();
        for way in Way::ALL {
            let outcome = suite.server(revision, way)?;
            let (passed, failed) = outcome.sum();
            let (scenarios, name) = (outcome.0.len(), way.name());
            println!("| {revision} | {name} | {scenarios} | {passed} | {failed} |");
            let worse = outcome.worse_than(&direct).into_iter();
            let worse = worse.filter(|one| !way.may_lose(one));
            lost.extend(worse.map(|one| format!("{revision}, {name}: {one}")));
            if way == Way::Direct {
                direct = outcome;
            }
        }
    }
    println!("\n| revision | our client: scenario | checks passed | failed |\n|---|---|---|---|");
    for revision in REVISIONS {
        let outcome = suite.client(revision)?;
        for (scenario, (passed, failed)) in &outcome.0 {
            if client::plays(scenario) {
                println!("| {revision} | {scenario} | {passed} | {failed} |");
                if *failed > 0 {
                    lost.push(format!("{revision}, our client: {scenario}"));
                }
            }
        }
    }
    ensure!(lost.is_empty(), "lost:\n  {}", lost.join("\n  "));
    Ok(())
}

/// Installs the suite; returns whether that is possible.
fn installed(folder: &Path) -> Result<bool> {
    if folder.join("node_modules/.package-lock.json").is_file() {
        return Ok(true);
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(folder)
        .args(PACKAGES);
    match npm.stdout(Stdio::null()).status() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context("npm"),
        Ok(status) => {
            ensure!(status.success(), "`npm install` ended with {status}");
            Ok(true)
        }
    }
}

impl Suite<'_> {
    fn node(&self) -> Command {
        Command::new(self.folder.join("node_modules/node/bin/node"))
    }

    /// Runs the suite with these arguments and returns its results.
    fn play(&self, arguments: &[&str], name: &str) -> Result<Outcome> {
        let results = self.folder.join("results").join(name);
        if results.exists() {
            fs::remove_dir_all(&results)?;
        }
        fs::create_dir_all(&results)?;
        let mut suite = self.node();
        suite.arg("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        suite.args(arguments).arg("-o").arg(&results).current_dir(self.folder);
        // Its exit code reflects only scored checks; all of them are counted here.
        suite.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        outcome(&results)
    }

    fn server(&self, revision: &str, way: Way) -> Result<Outcome> {
        let state = tempfile::tempdir()?;
        let mut server = self.node();
        server.arg(&self.server).args(["--port", "0"]);
        let mut running = Vec::new();
        let url = match way {
            Way::Direct => started(server, false, &mut running)?,
            Way::Http => {
                let behind = started(server, false, &mut running)?;
                let mut gateway = self.gateway(state.path());
                gateway.args(["--url", &behind]);
                started(gateway, true, &mut running)?
            }
            // Over HTTP our client prefers the wire without sessions.
            Way::Bridge if revision < REVISIONS[1] => {
                let behind = started(server, false, &mut running)?;
                let mut gateway = self.gateway(state.path());
                gateway.args(["--bridge", "--url", &behind]);
                started(gateway, true, &mut running)?
            }
            Way::Command | Way::Bridge => {
                let mut gateway = self.gateway(state.path());
                gateway.args((way == Way::Bridge).then_some("--bridge"));
                gateway.arg("--").arg(self.node().get_program()).arg(&self.server).arg("--stdio");
                started(gateway, true, &mut running)?
            }
        };
        let arguments = ["server", "--url", &url, "--requirements", revision];
        self.play(&arguments, &format!("{revision}-{way:?}"))
    }

    fn gateway(&self, state: &Path) -> Command {
        let mut gateway = Command::new(self.binary);
        gateway.arg("--state").arg(state).args(["mcp", "--listen", "127.0.0.1:0"]);
        gateway
    }

    fn client(&self, revision: &str) -> Result<Outcome> {
        let own = std::env::current_exe()?;
        let command = format!("{} mcp-client", own.display());
        let arguments = ["client", "--command", &command, "--requirements", revision];
        self.play(&arguments, &format!("{revision}-client"))
    }
}

/// Starts a program that prints the address it listens on.
fn started(mut command: Command, on_stderr: bool, running: &mut Vec<Running>) -> Result<String> {
    command.stdin(Stdio::null());
    match on_stderr {
        true => command.stdout(Stdio::null()).stderr(Stdio::piped()),
        false => command.stdout(Stdio::piped()).stderr(Stdio::null()),
    };
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let stdout = child.stdout.take().map(|out| Box::new(out) as Box<dyn Read + Send>);
    let said = stdout.or_else(|| child.stderr.take().map(|err| Box::new(err) as _));
    running.push(Running(child));
    let mut lines = BufReader::new(said.context("it has no streams")?).lines();
    for line in lines.by_ref() {
        let line = line?;
        if let Some(at) = line.find("http://") {
            let url = line.get(at..).unwrap_or_default().to_owned();
            // Keep reading its output, or the program would block.
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
            return Ok(url);
        }
    }
    bail!("{command:?} ended")
}

/// Reads the results of a run.
fn outcome(results: &Path) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for entry in fs::read_dir(results)? {
        gather(&entry?.path(), results, &mut outcome)?;
    }
    ensure!(!outcome.0.is_empty(), "the suite left no results in {}", results.display());
    Ok(outcome)
}

/// Adds the results in a folder. Folders are named `server-SCENARIO-TIME` or `client-…`; the name
/// of a scenario may be a path.
fn gather(folder: &Path, results: &Path, outcome: &mut Outcome) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let checks = folder.join("checks.json");
    if !checks.is_file() {
        for entry in fs::read_dir(folder)? {
            gather(&entry?.path(), results, outcome)?;
        }
        return Ok(());
    }
    let name = folder.strip_prefix(results).unwrap_or(folder).to_string_lossy();
    let scenario = ["server-", "client-"].iter().find_map(|side| name.strip_prefix(side));
    let scenario = scenario.unwrap_or(&name);
    // The name is followed by `-2026-11-26T05-41-59-059Z`.
    let end = scenario.rfind('T').and_then(|at| at.checked_sub(11)).unwrap_or(scenario.len());
    let scenario = scenario.get(..end).unwrap_or(scenario);
    let checks: Vec<Value> = serde_json::from_str(&fs::read_to_string(&checks)?)?;
    let count = |words: &[&str]| {
        let is = |check: &&Value| check.get("status").is_some_and(|s| words.iter().any(|w| s == w));
        u32::try_from(checks.iter().filter(is).count()).unwrap_or(u32::MAX)
    };
    let (passed, failed) = outcome.0.entry(scenario.to_owned()).or_default();
    *passed += count(&["SUCCESS"]);
    *failed += count(&["FAILURE", "WARNING"]);
    Ok(())
}
