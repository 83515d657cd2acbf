//! Benchmarks a shell command run by the executor (analysis, limits, process group, envelope)
//! against plain Bash: `cargo bench -p counterfoil-guard --features permits-for-tests --bench
//! shell`.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::disallowed_methods, reason = "the bare shell is what it is held against")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use counterfoil_guard::{
    Admitted, ByPolicy, ErasedToolExecutor, Permit, Phase, Requested, Scene, ShellExecutor,
    ShellPolicyHandle, TrustLevel,
};
use counterfoil_model::Tool;
use divan::Bencher;
use serde_json::json;

fn main() {
    divan::main();
}

const COMMANDS: [&str; 2] = ["true", "yes | head -c 10000000"];

#[divan::bench(args = COMMANDS, sample_count = 50, sample_size = 1)]
fn bare(bencher: Bencher<'_, '_>, command: &str) {
    bencher.bench_local(|| Command::new("/bin/bash").args(["-c", command]).output().unwrap());
}

#[divan::bench(args = COMMANDS, sample_count = 50, sample_size = 1)]
fn executor(bencher: Bencher<'_, '_>, command: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (environment, nothing) = (BTreeMap::new(), BTreeSet::new());
    let scene = Scene {
        session: "s",
        phase: Phase::Executor,
        trust: TrustLevel::Trusted,
        caller: None,
        model: None,
        requested: Requested::ByModel,
        workspace: folder.path(),
        environment: &environment,
        calls_made: 0,
        completed: &nothing,
        tools: &nothing,
        mentioned: &nothing,
        recent: &[],
        claim_source: None,
        trace: None,
        tainted_by: None,
        now: 0,
    };
    let shell = ShellExecutor::new(ShellPolicyHandle::default());
    let shell: &dyn ErasedToolExecutor = &shell;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    bencher.bench_local(|| {
        let call = Admitted::for_tests(Tool::named("shell"), json!({ "command": command }));
        let permit = Permit::<ByPolicy>::for_tests(call, "exec_1");
        runtime.block_on(shell.execute_tool_call(permit, &scene)).unwrap()
    });
}
