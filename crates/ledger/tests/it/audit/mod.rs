//! The audit log: its content, the detection of changes, and the effect of faults.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
#![expect(clippy::string_slice, reason = "of texts that are ASCII")]
#![expect(clippy::disallowed_methods, reason = "logs are kept in folders made for a test")]

mod documented;
mod entries;
mod faults;
mod processes;
mod reading;
mod tampering;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use counterfoil_ledger::{
    AuditEntry, AuditFiles, AuditHead, AuditLine, AuditLog, AuditProblem, AuditResult,
    AuditSettings, AuditVerification, Clock, Reading, verify_audit,
};
use counterfoil_model::ToolErrorCategory;
use serde_json::json;
use tempfile::TempDir;

/// A folder with one log, and a clock that advances a second with every line.
pub(crate) struct Shelf {
    folder: TempDir,
    clock: Arc<Ticking>,
    settings: AuditSettings,
}

#[derive(Debug)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn wall(&self) -> i64 {
        self.0.fetch_add(1000, Ordering::Relaxed)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

impl Shelf {
    pub(crate) fn new() -> Self {
        Self::with(AuditSettings::default())
    }

    pub(crate) fn with(settings: AuditSettings) -> Self {
        // 2026-11-02T12:00:00Z
        let clock = Arc::new(Ticking(AtomicI64::new(1_793_620_800_000)));
        Self { folder: tempfile::tempdir().unwrap(), clock, settings }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join("audit.jsonl")
    }

    pub(crate) fn open(&self) -> AuditLog {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<AuditLog, counterfoil_ledger::OpenAuditError> {
        AuditLog::open(&self.path(), self.settings.clone(), Arc::clone(&self.clock) as Arc<_>)
    }

    /// A log with this many lines.
    pub(crate) fn filled(count: usize) -> Self {
        Self::new().fill(count)
    }

    pub(crate) fn fill(self, count: usize) -> Self {
        let log = self.open();
        (0..count).for_each(|n| log.append(&entry(n)).unwrap());
        self
    }

    pub(crate) fn verify(&self, kept: Option<AuditHead>) -> AuditVerification {
        let files = AuditFiles::open(&self.path()).unwrap();
        verify_audit(files, kept, &mut |_| {}).unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<Result<AuditLine, AuditProblem>> {
        let mut lines = Vec::new();
        let files = AuditFiles::open(&self.path()).unwrap();
        files
            .lines(&mut |line| {
                lines.push(line);
                Reading::GoOn
            })
            .unwrap();
        lines
    }

    /// The names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The n-th of a series of entries of several kinds.
pub(crate) fn entry(n: usize) -> AuditEntry {
    let category = ToolErrorCategory::ALL[n % ToolErrorCategory::ALL.len()];
    let result = match n % 5 {
        0 => AuditResult::Success,
        1 => AuditResult::Blocked { reason: format!("rule {n}"), category },
        2 => AuditResult::Error { message: format!("fault {n}"), category },
        3 => AuditResult::Timeout,
        _ => AuditResult::Rollback { restored: 2, deleted: 1, category },
    };
    let tool = ["shell", "read_file", "fetch"][n % 3];
    AuditEntry {
        session_id: Some(format!("s{}", n % 2)),
        execution_id: Some(format!("{tool}_1793620800{n:03}_9f3a01bc")),
        ..AuditEntry::new(tool, json!({ "n": n, "path": "src/ä.rs" }), result)
    }
}
