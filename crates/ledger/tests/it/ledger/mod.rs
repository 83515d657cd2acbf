//! Recorded events stay unchanged.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
#![expect(
    clippy::disallowed_methods,
    reason = "ledgers are files, and stock tools are run on them"
)]

mod decisions;
mod faults;
mod killed;
mod life;
mod opening;
mod postgres;
mod proof;
mod retention;
mod tamper;
mod witness;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use counterfoil_ledger::{
    Clock, Closed, Draft, Durability, Ledger, LedgerSettings, Links, Opened, Phase, Randomness,
    RandomnessError, Rejected, Requested, Said, TrustLevel,
};
use counterfoil_model::{Digest, Origin, PermitBasis, Role, Status, ToolErrorCategory};
use serde_json::json;

/// A clock that a test sets.
#[derive(Debug, Default)]
pub(crate) struct SetClock {
    millis: AtomicI64,
}

impl SetClock {
    pub(crate) fn at(millis: i64) -> Arc<Self> {
        Arc::new(Self { millis: millis.into() })
    }

    pub(crate) fn set(&self, millis: i64) {
        self.millis.store(millis, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn wall(&self) -> i64 {
        self.millis.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

/// A source of the same bytes in every run.
#[derive(Debug, Default)]
pub(crate) struct Counted(AtomicU64);

impl Randomness for Counted {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        for chunk in bytes.chunks_mut(8) {
            let number = self.0.fetch_add(1, Ordering::SeqCst);
            let digest = Digest::of_bytes(&number.to_be_bytes());
            chunk.copy_from_slice(&digest.as_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

pub(crate) const NOW: i64 = 1_735_999_999_123;

pub(crate) fn settings(durability: Durability) -> LedgerSettings {
    LedgerSettings { durability, ..LedgerSettings::default() }
}

/// Opens the ledger in a folder, ignoring notices.
pub(crate) fn open(folder: &Path, durability: Durability) -> Ledger {
    let path = folder.join("ledger.db");
    Ledger::open(&path, settings(durability), SetClock::at(NOW), Arc::new(Counted::default()))
        .unwrap()
        .0
}

pub(crate) fn in_memory() -> Ledger {
    Ledger::in_memory(SetClock::at(NOW), Arc::new(Counted::default())).unwrap()
}

/// A place for a ledger.
pub(crate) enum Store {
    File(tempfile::TempDir),
    Postgres(postgres::Schema),
}

impl Store {
    pub(crate) fn open(&self, durability: Durability) -> Ledger {
        match self {
            Self::File(folder) => open(folder.path(), durability),
            Self::Postgres(schema) => schema.open(durability),
        }
    }
}

/// An empty place of every kind available here.
pub(crate) fn stores() -> Vec<Store> {
    let file = Store::File(tempfile::tempdir().unwrap());
    std::iter::once(file).chain(postgres::schema().map(Store::Postgres)).collect()
}

pub(crate) fn id(number: u32) -> String {
    counterfoil_model::ExecutionId::format("read_file", 1_735_999_999_123, number)
}

pub(crate) fn opened(execution_id: &str) -> Opened {
    let arguments = json!({ "path": "notes/a.md", "lines": [1, 20] });
    Opened {
        execution_id: execution_id.to_owned(),
        tool: "read_file".to_owned(),
        origin: Origin::Mcp { server: "files".to_owned() },
        emitted_tool: None,
        call_id: "call_1".to_owned(),
        caller_id: None,
        phase: Phase::Executor,
        requested: Requested::ByModel,
        model: Some("a-model".to_owned()),
        emitted_digest: Digest::of_bytes(b"{}"),
        arguments_digest: Digest::of_json(&json!({ "tool": "read_file", "arguments": arguments })),
        arguments: arguments.into(),
        permit: PermitBasis::Policy { rules: vec!["reading".to_owned()] },
        trust: TrustLevel::Provisional,
        started_at: NOW,
        trace: None,
        links: Links::default(),
        warnings: Vec::new(),
        emitted_arguments: None,
        rules: Vec::new(),
        id_shown: false,
    }
}

pub(crate) fn closed(execution_id: &str, result: &[u8]) -> Closed {
    Closed {
        execution_id: execution_id.to_owned(),
        status: Status::Completed,
        category: None,
        exit_code: Some(0),
        truncated: false,
        kept_whole: false,
        attempts: 1,
        ended_at: NOW + 40,
        duration_us: 39_500,
        raw_digest: Digest::of_bytes(result),
        recorded_digest: Digest::of_bytes(result),
        side_effects: Vec::new(),
        confinement: None,
        background: None,
    }
}

pub(crate) fn rejected(execution_id: &str) -> Rejected {
    Rejected {
        call: opened(execution_id),
        status: Status::Denied,
        category: ToolErrorCategory::PolicyBlocked,
        codes: vec!["policy.files".to_owned()],
        answer: "the policy does not allow this file".to_owned(),
    }
}

pub(crate) fn message(text: &str) -> Draft {
    Draft::Said(Said {
        role: Role::User,
        caller_id: None,
        text: Digest::of_bytes(text.as_bytes()),
        at: NOW,
    })
}

/// Opens and closes one execution with this result.
pub(crate) fn execute(ledger: &Ledger, session: &str, execution_id: &str, result: &[u8]) {
    ledger.open_execution(session, opened(execution_id), None).wait().unwrap();
    let draft = Draft::Closed(closed(execution_id, result));
    ledger.append(session, draft, vec![result.to_vec()]).wait().unwrap();
}
