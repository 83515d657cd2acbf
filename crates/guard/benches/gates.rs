//! Benchmarks all cheap gates on one call, next to the minimum cost of any gate: looking at the
//! call once.
//!
//! `cargo bench -p counterfoil-guard --bench gates`
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::path::Path;

use counterfoil_guard::{
    Admitted, AuthorizationOptions, Effect, Gates, Phase, PolicyOptions, PolicyRule,
    PolicySettings, Requested, Scene, TrustLevel,
};
use counterfoil_model::{Digest, Tool};
use divan::Bencher;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// A realistic set of rules: most are about other tools, every fourth is about all tools.
fn gates(count: usize) -> Gates {
    let rules = (0..count).map(|n| {
        let rule = PolicyRule { effect: Effect::Deny, ..PolicyRule::default() };
        match n % 4 {
            0 => PolicyRule {
                tool: "*".to_owned(),
                args_match: Some(format!("(?i)forbidden-{n}\\b")),
                ..rule
            },
            1 => PolicyRule { tool: format!("server{n}__*"), ..rule },
            2 => PolicyRule {
                tool: "read*".to_owned(),
                paths: vec![format!("**/secret{n}/**")],
                ..rule
            },
            _ => PolicyRule { effect: Effect::Allow, tool: format!("tool_{n}"), ..rule },
        }
    });
    let policy =
        PolicyOptions { enabled: count > 0, default_effect: Effect::Allow, rules: rules.collect() };
    let settings = PolicySettings::resolve(policy, AuthorizationOptions::default()).unwrap();
    Gates::builder().quota(Some(1_000)).policy(settings).build()
}

fn judge(bencher: Bencher<'_, '_>, count: usize, tool: &str, arguments: Value) {
    let gates = gates(count);
    let call = Admitted::for_tests(Tool::named(tool), arguments);
    let environment = BTreeMap::new();
    let nothing = BTreeSet::new();
    let scene = Scene {
        session: "s1",
        phase: Phase::Executor,
        trust: TrustLevel::Provisional,
        caller: None,
        model: None,
        requested: Requested::ByModel,
        workspace: Path::new("/project"),
        environment: &environment,
        calls_made: 7,
        completed: &nothing,
        tools: &nothing,
        mentioned: &nothing,
        recent: &[],
        claim_source: None,
        trace: None,
        tainted_by: None,
        now: 0,
    };
    bencher.bench_local(|| gates.judge(black_box(&call), black_box(&scene)));
}

#[divan::bench(args = [0, 32, 256])]
fn a_file_is_read(bencher: Bencher<'_, '_>, rules: usize) {
    judge(bencher, rules, "read_file", json!({ "path": "src/gate/mod.rs", "limit": 200 }));
}

#[divan::bench(args = [0, 32, 256])]
fn a_command_is_run(bencher: Bencher<'_, '_>, rules: usize) {
    judge(bencher, rules, "shell", json!({ "command": "cargo test --workspace 2>&1 | tail -20" }));
}

/// The baseline: computing the digest of the same call, which every call needs anyway.
#[divan::bench]
fn the_digest_alone(bencher: Bencher<'_, '_>) {
    let call =
        json!({ "tool": "read_file", "arguments": { "path": "src/gate/mod.rs", "limit": 200 } });
    bencher.bench_local(|| Digest::of_json(black_box(&call)));
}
