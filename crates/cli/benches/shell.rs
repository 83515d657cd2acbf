//! Measures the analysis of a command line, and a confined command compared with the bare shell:
//! `cargo bench -p counterfoil --bench shell`. Compare the fastest of each.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::disallowed_methods, reason = "the bare shell is what it is held against")]

use std::path::Path;
use std::process::{Command, Stdio};

use counterfoil_guard::{
    Blocklist, Guard, GuardOptions, Sandbox, Session, SessionStart, ShellExecutor, Surroundings,
    TrustLevel,
};
use counterfoil_model::{Arguments, ToolCall};
use counterfoil_tools::find_blocked_command;
use divan::Bencher;
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

/// Everyday command lines, including the shortest and the longest ordinary ones.
const ORDINARY: [&str; 4] = [
    "ls -la src",
    "cargo test --workspace 2>&1 | tail -20",
    "cd src && grep -rn 'fn main' . | sort | head -n 20",
    "find . -name '*.orig' -not -path './target/*' | xargs rm -f && rm -rf build/ dist/ *.egg-info",
];

#[divan::bench(args = ORDINARY)]
fn analysis(bencher: Bencher<'_, '_>, command: &str) {
    let list = Blocklist::default().at(Path::new("/home/dev/project"), Some("/home/dev"), None);
    bencher.bench_local(|| find_blocked_command(command, &list));
}

#[divan::bench(sample_count = 200, sample_size = 1)]
fn bare_sh(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| {
        Command::new("/bin/sh").args(["-c", "true"]).stdin(Stdio::null()).output().unwrap()
    });
}

#[divan::bench(sample_count = 200, sample_size = 1)]
fn bare_bash(bencher: Bencher<'_, '_>) {
    let words = ["--noprofile", "--norc", "-c", "true"];
    bencher.bench_local(|| {
        Command::new("/bin/bash").args(words).stdin(Stdio::null()).output().unwrap()
    });
}

struct Room {
    _folder: TempDir,
    session: Session,
    runtime: Runtime,
}

fn room(sandbox: Sandbox) -> Room {
    let folder = tempfile::tempdir().unwrap();
    let mut options = GuardOptions::default();
    options.tools.fixation.refuse = 1_000_000;
    let settings = options.resolve().unwrap();
    let shell = ShellExecutor::new(settings.shell.clone()).confined(sandbox);
    let guard = Guard::builder().settings(settings).executor(shell).workspace(folder.path());
    let guard = guard.build().unwrap();
    let start = SessionStart {
        trust: TrustLevel::Trusted,
        environment: std::env::vars().collect(),
        ..SessionStart::default()
    };
    let session = guard.session(start).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Room { _folder: folder, session, runtime }
}

fn measure(bencher: Bencher<'_, '_>, sandbox: Sandbox) {
    let room = room(sandbox);
    bencher.bench_local(|| {
        let call = ToolCall {
            id: String::new(),
            tool: "shell".to_owned(),
            arguments: Arguments::raw(r#"{"command": "true"}"#),
            line: 0,
        };
        let answer = room.session.call(call, Surroundings::default());
        assert_eq!(room.runtime.block_on(answer).unwrap().exit_code, Some(0));
    });
}

/// The whole guard, from admission to the answer, with a ledger in memory.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn unconfined(bencher: Bencher<'_, '_>) {
    measure(bencher, Sandbox::default());
}

#[divan::bench(sample_count = 200, sample_size = 1)]
fn confined(bencher: Bencher<'_, '_>) {
    measure(bencher, Sandbox::by_helper(env!("CARGO_BIN_EXE_counterfoil"), &["__confine"]));
}
