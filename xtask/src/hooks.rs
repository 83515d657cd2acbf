//! `cargo xtask hooks`: measures how long an agent waits for a hook, including the process start.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use counterfoil_guard::review;
use counterfoil_model::{Message, MessageKind, Role};
use counterfoil_rules::Settings;
use serde_json::{Value, json};

use crate::bench::log;
use crate::corpus::large;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// Number of events of each kind.
    #[arg(long, default_value_t = 40)]
    rounds: usize,
    /// Another program that takes the same events on standard input, run for the same stops.
    #[arg(long, value_name = "COMMAND")]
    beside: Option<String>,
    /// A labelled set of transcripts: count the labelled messages that a stop would send back.
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Size of the larger transcript, in MB.
    #[arg(long, default_value_t = 100)]
    large: usize,
}

const MB: usize = 1024 * 1024;

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(set) = &options.corpus {
        return sent_back(set);
    }
    let binary = options.binary.canonicalize().with_context(|| {
        format!("{} is missing: build it with `cargo build --release`", options.binary.display())
    })?;
    let folder = tempfile::tempdir()?;
    println!("{:44} {:>9} {:>9} {:>9}   in ms", "", "minimum", "median", "95 %");
    let own =
        Program { line: vec![binary.display().to_string(), "hook".into(), "claude-code".into()] };
    let nothing = Program { line: vec![binary.display().to_string(), "--version".into()] };
    let desk = Desk::new(folder.path(), "tools", 0)?;
    desk.measure("a process that does nothing", &nothing, options.rounds, |_| Ok(String::new()))?;
    let call = |number: usize| {
        json!({
            "tool_name": "Bash", "tool_use_id": format!("toolu_b{number}"),
            "tool_input": { "command": format!("cargo test --test it case_{number} 2>&1 | tail -20") },
        })
    };
    desk.measure("before a tool", &own, options.rounds, |number| {
        Ok(desk.event("PreToolUse", call(number)))
    })?;
    desk.measure("after a tool", &own, options.rounds, |number| {
        let mut ended = call(number);
        if let Some(members) = ended.as_object_mut() {
            let printed = json!({ "stdout": "ok\n".repeat(400), "stderr": "" });
            members.insert("tool_response".to_owned(), printed);
        }
        Ok(desk.event("PostToolUse", ended))
    })?;
    for size in [10, options.large] {
        let desk = Desk::new(folder.path(), &format!("{size}"), size)?;
        let few = (options.rounds / 4).max(3);
        desk.measure(&format!("stop, {size} MB, read for the first time"), &own, few, |_| {
            desk.forget()?;
            Ok(desk.stop())
        })?;
        desk.measure(
            &format!("stop, {size} MB, one turn added"),
            &own,
            options.rounds,
            |number| {
                desk.turn(number)?;
                Ok(desk.stop())
            },
        )?;
        if let Some(beside) = &options.beside {
            let other = Program { line: vec!["sh".into(), "-c".into(), beside.clone()] };
            let name = format!("stop, {size} MB, the other program");
            desk.measure(&name, &other, few, |_| Ok(desk.stop()))?;
        }
    }
    Ok(())
}

/// Judges the labelled message of every row as a stop would.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn sent_back(set: &Path) -> Result<()> {
    let settings = Settings::default();
    let (mut rows, mut blocked, mut codes) = (0, 0, BTreeMap::new());
    for mut row in large(set)? {
        let Some(turn) = row.turn else { continue };
        rows += 1;
        // An agent stops with its last message; the turn begins after the user's last message.
        row.transcript.messages.truncate(turn + 1);
        let spoken = |m: &Message| m.role == Role::User && m.kind == MessageKind::Ordinary;
        let first = row.transcript.messages.iter().rposition(spoken).map_or(0, |at| at + 1);
        let found = review(&row.transcript, first, &settings);
        blocked += usize::from(!found.blocking.is_empty());
        for finding in &found.blocking {
            *codes.entry(finding.code.0).or_insert(0) += 1;
            println!("{} [{}]: {}", row.id, row.class, counterfoil_guard::remark(finding));
        }
    }
    println!("{blocked} of {rows} would be sent back; findings by rule: {codes:?}");
    Ok(())
}

/// The program that is started for every event.
struct Program {
    line: Vec<String>,
}

/// One session.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    /// Creates a session with a transcript of `size` megabytes.
    #[expect(clippy::disallowed_methods, reason = "a developer tool writes transcripts")]
    fn new(folder: &Path, name: &str, size: usize) -> Result<Self> {
        let folder = folder.join(name);
        fs::create_dir_all(&folder)?;
        if size > 0 {
            fs::write(folder.join("session.jsonl"), log(size * MB))?;
        }
        Ok(Self { folder })
    }

    fn event(&self, name: &str, members: Value) -> String {
        let mut event = json!({
            "session_id": "5f0c9a1e-2b7d-4c3e-9f52-61d0a7b4c8e1", "cwd": self.folder,
            "transcript_path": self.folder.join("session.jsonl"), "hook_event_name": name,
        });
        if let (Some(event), Value::Object(members)) = (event.as_object_mut(), members) {
            event.extend(members);
        }
        event.to_string()
    }

    fn stop(&self) -> String {
        let last = json!({ "stop_hook_active": false, "last_assistant_message": LAST });
        self.event("Stop", last)
    }

    /// Adds a turn to the log: a prompt, some calls, an answer.
    fn turn(&self, number: usize) -> Result<()> {
        let mut text = String::new();
        let mut line = |kind: &str, content: Value| {
            let message = json!({ "role": kind, "content": content });
            let line = json!({
                "type": kind, "sessionId": "5f0c9a1e-2b7d-4c3e-9f52-61d0a7b4c8e1",
                "uuid": "x", "parentUuid": null, "timestamp": "2026-02-01T11:00:00.000Z",
                "message": message,
            });
            text.push_str(&format!("{line}\n"));
        };
        line("user", json!("Please go on, and run the tests."));
        for call in 0..12 {
            let id = format!("toolu_t{number}_{call}");
            let input = json!({ "command": "cargo test" });
            line(
                "assistant",
                json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": input }]),
            );
            let shown =
                format!("{}test result: ok. 42 passed; 0 failed\n", "test a ... ok\n".repeat(200));
            line("user", json!([{ "type": "tool_result", "tool_use_id": id, "content": shown }]));
        }
        line("assistant", json!([{ "type": "text", "text": LAST }]));
        let mut file = OpenOptions::new().append(true).open(self.folder.join("session.jsonl"))?;
        Ok(file.write_all(text.as_bytes())?)
    }

    fn forget(&self) -> Result<()> {
        let memory = self.folder.join("state/hooks");
        if memory.exists() {
            fs::remove_dir_all(memory)?;
        }
        Ok(())
    }

    #[expect(clippy::print_stdout, reason = "a developer reads it")]
    fn measure(
        &self,
        name: &str,
        program: &Program,
        rounds: usize,
        mut event: impl FnMut(usize) -> Result<String>,
    ) -> Result<()> {
        let mut times = Vec::with_capacity(rounds);
        // The first round warms the system's caches and is not counted.
        for round in 0..=rounds {
            let event = event(round)?;
            let time = self.time(program, &event)?;
            if round > 0 {
                times.push(time);
            }
        }
        times.sort();
        let at = |share: usize| times.get((times.len() - 1) * share / 100).copied();
        let shown = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64() * 1000.0;
        println!("{name:44} {:9.1} {:9.1} {:9.1}", shown(at(0)), shown(at(50)), shown(at(95)));
        Ok(())
    }

    fn time(&self, program: &Program, event: &str) -> Result<Duration> {
        let (first, rest) = program.line.split_first().context("a program has a name")?;
        let started = Instant::now();
        #[expect(clippy::disallowed_methods, reason = "the time of a process is measured")]
        let mut child = Command::new(first)
            .args(rest)
            .current_dir(&self.folder)
            .env("COUNTERFOIL_STATE", self.folder.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        // A program that does not read its input may have closed it.
        let _ = child.stdin.take().context("there is an input")?.write_all(event.as_bytes());
        let output = child.wait_with_output()?;
        let time = started.elapsed();
        ensure!(output.status.success(), "{first} ended with {}", output.status);
        Ok(time)
    }
}

const LAST: &str = "I ran the tests again: all 42 tests pass.";
