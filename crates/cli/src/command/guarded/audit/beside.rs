//! Compares the audit log with the ledger beside it, to detect a log that was cut or rewritten.

use std::collections::BTreeSet;

use counterfoil_ledger::{AuditFiles, AuditVerification, Draft, Ledger, Reading};
use serde_json::{Value, json};

use super::answer::Mark;
use crate::exit::Complaint;
use counterfoil_report::counted;

/// The result of comparing the calls of the ledger with the lines of the log.
pub(super) struct Beside {
    /// `None` if the ledger has no ended call.
    pub(super) row: Option<(Mark, String)>,
    pub(super) json: Value,
}

/// Checks that every ended call has a line.
pub(super) fn held(
    files: AuditFiles,
    ledger: &Ledger,
    found: &AuditVerification,
    shared: bool,
) -> anyhow::Result<Beside> {
    let mut told = BTreeSet::new();
    files
        .lines(&mut |line| {
            told.extend(line.ok().and_then(|line| line.entry.execution_id));
            Reading::GoOn
        })
        .map_err(Complaint::from_error)?;
    let Ended { calls, missing } = ended(ledger, &told)?;
    let json = json!({ "calls": calls, "without_a_line": missing.len() });
    let row = match missing.as_slice() {
        [] => (
            Mark::Holds,
            format!(
                "the log has a line for each of the ledger's {}",
                counted(calls, "finished call")
            ),
        ),
        _ if found.missing_before > 0 => (
            Mark::Open,
            format!(
                "these log files have no line for {} in the ledger; the missing lines may be in \
                 the archived files",
                counted(missing.len() as u64, "finished call")
            ),
        ),
        _ if shared => (
            Mark::Open,
            format!(
                "this log has no line for {} in the ledger; other replicas write their own logs",
                counted(missing.len() as u64, "finished call")
            ),
        ),
        // The line is written after the receipt, so a process that died in between leaves none.
        [(_, only)] if missing.len() == 1 => (
            Mark::Open,
            format!(
                "the call `{only}` has no line in the log: the process may have been killed \
                before writing it"
            ),
        ),
        [(_, first), ..] => (
            Mark::Broken,
            format!(
                "the log was truncated or rewritten: it has no line for {} in the ledger; the \
                 first missing call is `{first}`",
                counted(missing.len() as u64, "finished call")
            ),
        ),
    };
    Ok(Beside { row: (calls > 0).then_some(row), json })
}

/// The ended calls of a ledger.
struct Ended {
    calls: u64,
    /// Calls without a line in the log, in order.
    missing: Vec<(u64, String)>,
}

fn ended(ledger: &Ledger, told: &BTreeSet<String>) -> anyhow::Result<Ended> {
    let (mut calls, mut missing) = (0, Vec::new());
    for session in ledger.sessions().map_err(Complaint::from_error)? {
        let events = ledger.events(&session).map_err(Complaint::from_error)?;
        for event in events {
            let ended = match event.draft {
                Draft::Closed(closed) => closed.execution_id,
                Draft::Rejected(rejected) => rejected.call.execution_id,
                _ => continue,
            };
            calls += 1;
            if !told.contains(&ended) {
                missing.push((event.seq, ended));
            }
        }
    }
    missing.sort();
    Ok(Ended { calls, missing })
}
