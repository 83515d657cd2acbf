//! Compares the audit log with the ledger beside it, to detect a log that was cut or rewritten.

use std::collections::{BTreeMap, BTreeSet};

use counterfoil_ledger::{AuditFiles, AuditVerification, Draft, Ledger, Reading};
use serde_json::{Value, json};

use super::answer::Mark;
use crate::exit::Complaint;
use counterfoil_report::counted;

/// The result of comparing the calls of the ledger with the lines of the log.
pub(super) struct Beside {
    pub(super) rows: Vec<(Mark, String)>,
    pub(super) json: Value,
}

/// Checks that every ended call has a line with its outcome, and names calls without an end.
pub(super) fn held(
    files: AuditFiles,
    ledger: &Ledger,
    found: &AuditVerification,
    shared: bool,
) -> anyhow::Result<Beside> {
    let mut logged: Logged = BTreeSet::new();
    files
        .lines(&mut |line| {
            logged.extend(line.ok().and_then(|line| {
                let succeeded = line.entry.result.category().is_none();
                line.entry.execution_id.map(|id| (id, succeeded))
            }));
            Reading::GoOn
        })
        .map_err(Complaint::from_error)?;
    let Ended { calls, missing, differing, open } = ended(ledger, &logged)?;
    let json = json!({
        "calls": calls, "without_a_line": missing.len(), "with_another_outcome": differing.len(),
        "never_ended": open.len(),
    });
    let lines = (calls > 0).then(|| lines(calls, &missing, found.missing_before > 0, shared));
    Ok(Beside {
        rows: lines.into_iter().chain(differs(&differing)).chain(never_ended(&open)).collect(),
        json,
    })
}

/// The execution ids in the log, with whether each succeeded according to a line.
type Logged = BTreeSet<(String, bool)>;

/// The row about the lines of ended calls, given whether older log files are `archived`.
fn lines(calls: u64, missing: &[(u64, String)], archived: bool, shared: bool) -> (Mark, String) {
    let absent = counted(missing.len() as u64, "finished call");
    match missing {
        [] => {
            let calls = counted(calls, "finished call");
            (Mark::Holds, format!("the log has a line for each of the ledger's {calls}"))
        }
        _ if archived => (
            Mark::Open,
            format!(
                "these log files have no line for {absent} in the ledger; the missing lines may be \
                 in the archived files"
            ),
        ),
        _ if shared => (
            Mark::Open,
            format!(
                "this log has no line for {absent} in the ledger; other replicas write their own \
                 logs"
            ),
        ),
        // The line is written after the receipt, so a process that died in between leaves none.
        [(_, only)] => (
            Mark::Open,
            format!(
                "the call `{only}` has no line in the log: the process may have been killed \
                 before writing it"
            ),
        ),
        [(_, first), ..] => (
            Mark::Broken,
            format!(
                "the log was truncated or rewritten: it has no line for {absent} in the ledger; \
                 the first missing call is `{first}`"
            ),
        ),
    }
}

/// The row about calls with another outcome in the log than in the ledger.
fn differs(differing: &[String]) -> Option<(Mark, String)> {
    let first = differing.first()?;
    let calls = counted(differing.len() as u64, "call");
    let why = format!("the ledger has another outcome for {calls}; the first is `{first}`");
    Some((Mark::Broken, format!("the log was rewritten: {why}")))
}

/// The row about calls that were started and never ended, oldest first.
fn never_ended(open: &[(u64, String)]) -> Option<(Mark, String)> {
    const NAMED: usize = 3;
    let named = open.iter().take(NAMED).map(|(_, id)| format!("`{id}`"));
    let more = (open.len() > NAMED).then(|| "…".to_owned());
    let named: Vec<String> = named.chain(more).collect();
    let row = format!(
        "started and never ended: {} ({}), because a process was killed or is still running; this \
         is not tampering",
        counted(open.len() as u64, "call"),
        named.join(", "),
    );
    (!open.is_empty()).then_some((Mark::Open, row))
}

/// The ended calls of a ledger.
struct Ended {
    calls: u64,
    /// Calls without a line in the log, in order.
    missing: Vec<(u64, String)>,
    /// Calls that succeeded according to only one of log and ledger.
    differing: Vec<String>,
    /// Calls that were started and never ended, in order.
    open: Vec<(u64, String)>,
}

fn ended(ledger: &Ledger, logged: &Logged) -> anyhow::Result<Ended> {
    let (mut calls, mut missing, mut differing) = (0, Vec::new(), Vec::new());
    let mut open = BTreeMap::new();
    for session in ledger.sessions().map_err(Complaint::from_error)? {
        let events = ledger.events(&session).map_err(Complaint::from_error)?;
        for event in events {
            let (ended, succeeded) = match event.draft {
                Draft::Opened(opened) => {
                    open.insert(opened.execution_id, event.seq);
                    continue;
                }
                Draft::Closed(closed) => (closed.execution_id, closed.status.succeeded()),
                Draft::Rejected(rejected) => (rejected.call.execution_id, false),
                _ => continue,
            };
            calls += 1;
            open.remove(&ended);
            let outcome = (ended, succeeded);
            match (logged.contains(&outcome), logged.contains(&(outcome.0.clone(), !succeeded))) {
                (true, _) => {}
                (false, true) => differing.push(outcome.0),
                (false, false) => missing.push((event.seq, outcome.0)),
            }
        }
    }
    missing.sort();
    let mut open: Vec<_> = open.into_iter().map(|(id, seq)| (seq, id)).collect();
    open.sort();
    Ok(Ended { calls, missing, differing, open })
}
