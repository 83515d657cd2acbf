//! Benchmarks a whole `Session::call` with a tool that does nothing, and its parts, in one run:
//! `cargo bench -p counterfoil-guard --bench call`.
//!
//! The ledger uses durability `os`, the audit log its default. Both are in the temporary folder's
//! file system.

#![expect(clippy::unwrap_used, reason = "a bench may fail")]

use std::hint::black_box;
use std::sync::Arc;

use counterfoil_guard::{
    FunctionExecutor, Guard, GuardSettings, Redactor, Session, SessionStart, StateFolder,
    Surroundings,
};
use counterfoil_ledger::{
    AuditEntry, AuditLog, AuditResult, AuditSettings, Draft, Durability, Ledger, LedgerSettings,
    SystemClock, SystemRandomness,
};
use counterfoil_model::{Arguments, Digest, Origin, Role, Tool, ToolCall};
use divan::Bencher;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

fn main() {
    divan::main();
}

struct Desk {
    _folder: TempDir,
    runtime: Runtime,
    session: Session,
}

fn settings() -> GuardSettings {
    let ledger = LedgerSettings { durability: Durability::Os, ..LedgerSettings::default() };
    GuardSettings { ledger, ..GuardSettings::default() }
}

fn desk(kept: bool) -> Desk {
    let folder = TempDir::new().unwrap();
    let tool = Tool {
        parameters: Some(json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "limit": { "type": "integer" } },
            "required": ["path"],
        })),
        origin: Origin::Builtin,
        ..Tool::named("read_entry")
    };
    let builder = Guard::builder().settings(settings()).workspace(folder.path()).executor(
        FunctionExecutor::new(tool, |_: &Value| Ok("an entry of forty bytes, more or less")),
    );
    let builder = if kept { builder.state(StateFolder::at(folder.path())) } else { builder };
    let guard = builder.build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    Desk { _folder: folder, runtime, session }
}

fn call(n: usize) -> ToolCall {
    ToolCall {
        id: format!("call_{n}"),
        tool: "read_entry".to_owned(),
        arguments: Arguments::raw(format!("{{\"path\":\"notes/{n}.md\",\"limit\":20}}")),
        line: 0,
    }
}

fn calls(bencher: Bencher<'_, '_>, kept: bool) {
    let desk = desk(kept);
    let mut n = 0;
    bencher.bench_local(|| {
        n += 1;
        let answer = desk.session.call(call(n), Surroundings::default());
        black_box(desk.runtime.block_on(answer)).unwrap()
    });
}

/// A whole call with the ledger and the audit log on disk.
#[divan::bench(sample_count = 200, sample_size = 20)]
fn whole_call(bencher: Bencher<'_, '_>) {
    calls(bencher, true);
}

/// A whole call with an in-memory ledger and no audit log.
#[divan::bench(sample_count = 200, sample_size = 20)]
fn whole_call_in_memory(bencher: Bencher<'_, '_>) {
    calls(bencher, false);
}

/// One event as large as the closing event of a call.
#[divan::bench(sample_count = 200, sample_size = 20)]
fn ledger_event(bencher: Bencher<'_, '_>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ledger.db");
    let (clock, randomness) = (Arc::new(SystemClock::default()), Arc::new(SystemRandomness));
    let (ledger, _) = Ledger::open(&path, settings().ledger, clock, randomness).unwrap();
    let mut n = 0_u64;
    bencher.bench_local(|| {
        n += 1;
        let text = format!("something of forty bytes, more or less {n}").into_bytes();
        let message = counterfoil_ledger::Said {
            role: Role::User,
            caller_id: None,
            text: Digest::of_bytes(&text),
            at: 0,
        };
        ledger.append("s", Draft::Said(message), vec![text]).wait().unwrap()
    });
}

/// One audit line.
#[divan::bench(sample_count = 200, sample_size = 20)]
fn audit_line(bencher: Bencher<'_, '_>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    let clock = Arc::new(SystemClock::default());
    let audit = AuditLog::open(&path, AuditSettings::default(), clock).unwrap();
    let entry = AuditEntry::new(
        "read_entry",
        json!({ "path": "notes/1.md", "limit": 20 }),
        AuditResult::Success,
    );
    bencher.bench_local(|| audit.append(&entry).unwrap());
}

/// Redacting the arguments and the result of one call.
#[divan::bench(sample_count = 200, sample_size = 20)]
fn redaction(bencher: Bencher<'_, '_>) {
    let redactor = Redactor::standard();
    let arguments = json!({ "path": "notes/1.md", "limit": 20 });
    bencher.bench_local(|| {
        black_box(redactor.redact_value(&arguments));
        black_box(redactor.redact("an entry of forty bytes, more or less").into_owned())
    });
}
