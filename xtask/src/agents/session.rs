//! Plays one scenario with one agent in a home folder of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::agent::Agent;
use super::model::{Asked, Model, Script, Who};
use super::page::AS_EXPECTED;
use super::record;
use super::scenario::{Action, Counts, Installed, Scenario};
use super::wire::Wire;
use crate::process::Running;

/// The text that tells an agent why it was sent back.
const SENT_BACK: &str = "Your message says what the record of this session does not show.";
/// The texts that tell a model that a call is denied or requires consent.
const DENIED: [&str; 3] = ["may not run: ", "would leave this machine", "decides about the agent"];
/// The text that tells a model, with the next prompt, what the hook let through.
const REMINDED: &str = "the record does not show everything that the agent said";

/// The package's name of a real MCP server for files.
const SERVER: &str = "mcp-server-filesystem";

/// An agent that runs longer than this is killed.
const LONGEST: Duration = Duration::from_secs(120);

const MODULE: &str = r#""""Slugs for addresses."""


def slug(title):
    return title.lower().replace(" ", "-")
"#;
const TESTS: &str = r#"import unittest

from slug import slug


class Slugs(unittest.TestCase):
    def test_case(self):
        self.assertEqual(slug("News"), "news")

    def test_ends(self):
        self.assertEqual(slug(" all news "), "all-news")

    def test_words(self):
        self.assertEqual(slug("all news"), "all-news")
"#;

/// Runs sessions.
pub(super) struct Desk<'d> {
    pub(super) root: &'d Path,
    pub(super) binary: &'d Path,
    pub(super) out: PathBuf,
    /// The model's delay, in ms.
    pub(super) latency: u64,
    pub(super) record: Option<PathBuf>,
    /// The mode of the proxy between agent and model, if any.
    pub(super) proxy: Option<String>,
}

/// The result of a session.
pub(super) struct Seen {
    pub(super) counts: Counts,
    /// Other problems.
    trouble: Vec<String>,
}

impl Seen {
    /// Describes on one line how the result differs from what is expected.
    pub(super) fn verdict(&self, scenario: &Scenario) -> String {
        let (seen, expected) = (self.counts, scenario.expect);
        let pairs = [
            ("sent back", seen.sent_back, expected.sent_back),
            ("helper sent back", seen.helper_sent_back, expected.helper_sent_back),
            ("denied", seen.denied, expected.denied),
            ("reminded", seen.reminded, expected.reminded),
            ("recorded by the gateway", seen.recorded, expected.recorded),
        ];
        let differs = pairs.iter().filter(|(_, seen, expected)| seen != expected);
        let mut wrong: Vec<String> = differs
            .map(|(what, seen, expected)| format!("{what} {seen} times, expected {expected}"))
            .collect();
        if seen.status != expected.status {
            wrong.push(format!("hook status {}, expected {}", seen.status, expected.status));
        }
        wrong.extend(self.trouble.iter().cloned());
        if wrong.is_empty() { AS_EXPECTED.to_owned() } else { wrong.join("; ") }
    }
}

impl Desk<'_> {
    /// Gives the agent a server and puts it behind the gateway.
    fn put_behind_the_gateway(&self, agent: &Agent, place: &Place) -> Result<()> {
        place.serve_files(agent.beside(SERVER))?;
        let listed = agent.list_server(&place.home, "files", "file-server")?;
        let installed = self.ours(place, &["mcp", "install", agent.name()], "mcp-install")?;
        let behind = fs::read_to_string(&listed)?.contains("--name");
        ensure!(installed == 0 && behind, "`mcp install` failed: see {}", place.at.display());
        Ok(())
    }

    pub(super) fn play(&self, agent: &Agent, scenario: &Scenario) -> Result<Seen> {
        let at = self.out.join(agent.name()).join(&scenario.name);
        if at.exists() {
            fs::remove_dir_all(&at).with_context(|| format!("removing {}", at.display()))?;
        }
        let place = Place::make(&at)?;
        let model = Model::start(Script {
            steps: filled(&scenario.steps, &place.work, agent.has_to_wait()),
            helper: filled(&scenario.helper, &place.work, false),
            latency: Duration::from_millis(self.latency),
            kept: place.at.join("model"),
        })?;
        let proxy = self.proxy.as_ref().map(|mode| self.proxy(&place, &model.url, mode));
        let proxy = proxy.transpose()?;
        let url = proxy.as_ref().map_or(&model.url, |(url, _)| url);
        agent.prepare(&place.home, url)?;
        if scenario.installed_by != Installed::Plugin {
            let installed = self.ours(&place, &["hook", "install", agent.name()], "install")?;
            ensure!(installed == 0, "`hook install` failed: see {}", place.at.display());
        }
        if scenario.gateway {
            self.put_behind_the_gateway(agent, &place)?;
        }
        if self.record.is_some() {
            record::stand_before(self.binary, &place.at, &place.home.join(agent.settings()))?;
        }
        let mut trouble = Vec::new();
        for (number, prompt) in scenario.prompts.iter().enumerate() {
            let mut turn = agent.turn(self.root, scenario, number, prompt);
            turn.envs(agent.environment(url));
            let code = self.run(&place, &mut turn, &format!("turn-{number}"))?;
            match code {
                Some(0) => {}
                Some(code) => trouble.push(format!("the agent ended with {code}")),
                None => trouble.push("the agent did not end".to_owned()),
            }
        }
        let asked = model.asked();
        drop(model);
        let status = self.ours(&place, &["hook", "status", agent.name()], "status")?;
        let heard = scenario.installed_by != Installed::Untrusted;
        if heard && self.ours(&place, &["audit", "verify"], "verify")? != 0 {
            trouble.push("the ledger does not verify".to_owned());
        }
        let query = ["audit", "query", "--tool", "write_file", "--format", "jsonl"];
        let recorded = match scenario.gateway {
            true if self.ours(&place, &query, "gateway")? == 0 => {
                fs::read_to_string(place.at.join("gateway.out.txt"))?.lines().count()
            }
            _ => 0,
        };
        if self.ours(&place, &["check", "--latest", agent.name()], "check")? > 1 {
            trouble.push("the log cannot be checked".to_owned());
        }
        if let Some(folder) = &self.record {
            let to = folder.join(agent.name()).join(&scenario.name);
            record::keep(&place.at, &place.home.join(agent.logs()), &to)?;
        }
        let status = if self.record.is_some() { scenario.expect.status } else { status };
        Ok(Seen { counts: Counts { recorded, ..counted(&asked, status) }, trouble })
    }

    /// Starts a proxy in front of the model and returns its address.
    fn proxy(&self, place: &Place, model: &str, mode: &str) -> Result<(String, Running)> {
        let mut command = Command::new(self.binary);
        command.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", model, "--mode", mode]);
        command.args(["--state".as_ref(), place.at.join("proxy-state").as_os_str()]);
        command.env("HOME", &place.home).current_dir(&place.work).stderr(Stdio::piped());
        let mut running = Running(command.spawn()?);
        let said = running.0.stderr.take().context("the proxy says nothing")?;
        let mut line = String::new();
        let mut reader = BufReader::new(said);
        reader.read_line(&mut line)?;
        let mut kept = File::create(place.at.join("proxy.err.txt"))?;
        std::thread::spawn(move || std::io::copy(&mut reader, &mut kept));
        let mut words = line.split_whitespace();
        let url = words.find_map(|word| word.strip_suffix("/v1"));
        Ok((url.with_context(|| format!("the proxy says `{line}`"))?.to_owned(), running))
    }

    /// Runs our own program as the user would and keeps its output.
    fn ours(&self, place: &Place, arguments: &[&str], name: &str) -> Result<i32> {
        let mut command = Command::new(self.binary);
        command.args(arguments);
        let code = self.run(place, &mut command, name)?;
        code.with_context(|| format!("`counterfoil {}` does not end", arguments.join(" ")))
    }

    /// Runs a command; returns its exit code, or `None` if it timed out.
    fn run(&self, place: &Place, command: &mut Command, name: &str) -> Result<Option<i32>> {
        let to = |end: &str| File::create(place.at.join(format!("{name}.{end}")));
        command.env("HOME", &place.home).env("PATH", self.path(place)?);
        command.env("LANG", "C.UTF-8").env("TERM", "dumb").env("NO_PROXY", "127.0.0.1");
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COUNTERFOIL_STATE", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command.current_dir(&place.work).stdin(Stdio::null());
        command.stdout(to("out.txt")?).stderr(to("err.txt")?);
        let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
        let began = Instant::now();
        while began.elapsed() < LONGEST {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status.code().unwrap_or(-1)));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill()?;
        child.wait()?;
        Ok(None)
    }

    /// Returns a `PATH` that replaces harmful commands with stubs that only print that they ran.
    fn path(&self, place: &Place) -> Result<OsString> {
        let own = self.binary.parent().unwrap_or(self.root).to_owned();
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let before = [place.at.join("harmless"), own];
        Ok(std::env::join_paths(before.into_iter().chain(std::env::split_paths(&inherited)))?)
    }
}

/// The folders of a session.
struct Place {
    at: PathBuf,
    home: PathBuf,
    work: PathBuf,
}

impl Place {
    fn make(at: &Path) -> Result<Self> {
        let place = Self { at: at.to_owned(), home: at.join("home"), work: at.join("work") };
        for folder in [&place.home, &place.work, &at.join("model"), &at.join("harmless")] {
            fs::create_dir_all(folder)?;
        }
        fs::write(place.work.join("slug.py"), MODULE)?;
        fs::write(place.work.join("test_slug.py"), TESTS)?;
        for arguments in [
            &["init", "-q"][..],
            &["add", "."],
            &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "Start"],
        ] {
            let done = Command::new("git").args(arguments).current_dir(&place.work).status()?;
            ensure!(done.success(), "git {} failed", arguments.join(" "));
        }
        for name in ["rm", "curl", "wget"] {
            let path = at.join("harmless").join(name);
            let ran = at.join("ran.txt");
            fs::write(&path, format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n", ran.display()))?;
            executable(&path)?;
        }
        Ok(place)
    }
}

impl Place {
    /// Sets up an MCP server for files, `file-server`: the real one if it is installed with the
    /// agent, otherwise our own tools.
    fn serve_files(&self, real: Option<PathBuf>) -> Result<()> {
        let (work, state) = (self.work.display(), self.at.join("server"));
        let command = match real {
            Some(program) => format!("'{}' '{work}'", program.display()),
            None => format!("counterfoil --state '{}' mcp --builtin file", state.display()),
        };
        let path = self.at.join("harmless/file-server");
        fs::write(&path, format!("#!/bin/sh\ncd '{work}' && exec {command}\n"))?;
        executable(&path)
    }
}

#[cfg(unix)]
pub(super) fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
pub(super) fn executable(_: &Path) -> Result<()> {
    Ok(())
}

/// Fills the workspace's path into the replies, and adds a reply that waits for sub-agents if the
/// agent needs one.
fn filled(steps: &[Vec<Action>], work: &Path, wait: bool) -> Vec<Vec<Action>> {
    let set = |text: &String| text.replace("WORK/", &format!("{}/", work.display()));
    let one = |action: &Action| match action {
        Action::Read(path) => Action::Read(set(path)),
        Action::Edit { path, old, new } => {
            Action::Edit { path: set(path), old: old.clone(), new: new.clone() }
        }
        Action::Write { path, text } => Action::Write { path: set(path), text: text.clone() },
        Action::Call { tool, arguments } => {
            let mut arguments = arguments.clone();
            for value in arguments.values_mut() {
                if let serde_json::Value::String(text) = value {
                    *text = set(text);
                }
            }
            Action::Call { tool: tool.clone(), arguments }
        }
        other => other.clone(),
    };
    let mut replies = Vec::new();
    for step in steps {
        replies.push(step.iter().map(one).collect());
        if wait && step.iter().any(|action| matches!(action, Action::Delegate(_))) {
            replies.push(vec![Action::Wait]);
        }
    }
    replies
}

/// Counts the reactions that reached the model, in the newest part of each request.
fn counted(asked: &[Asked], status: i32) -> Counts {
    let told = |who: Who, what: &[&str], but: &str| {
        let newest = asked.iter().filter(|a| a.who == who).map(|a| Wire::newest(&a.request));
        let is = |text: &String| what.iter().any(|what| text.contains(what)) && !text.contains(but);
        newest.filter(is).count()
    };
    Counts {
        sent_back: told(Who::Agent, &[SENT_BACK], "\0"),
        helper_sent_back: told(Who::Helper, &[SENT_BACK], "\0"),
        denied: told(Who::Agent, &DENIED, SENT_BACK),
        reminded: told(Who::Agent, &[REMINDED], "\0"),
        recorded: 0,
        status,
    }
}
