//! Detects repetition across processes and recalls recent calls, from the session's latest events in
//! the ledger.

use std::collections::HashMap;

use counterfoil_admission::{Ending, Fixation, FixationEvent, FixationSettings, Step};
use counterfoil_ledger::{Draft, Event, Ledger, Opened, ReadLedgerError, Rejected};
use counterfoil_model::{Arguments, Role, Status, Tool};
use counterfoil_tools::RecentCall;

use crate::gate::words;
use crate::guard::Guard;
use crate::session::Calls;

/// The number of latest events that are read first: enough for the longest cycle that is detected.
const EVENTS: u64 = 96;
/// How many times as many events are read next, if a repetition may have begun earlier.
const FURTHER: u64 = 8;

/// The latest call that ended, with the hint about its repetition, if any.
pub(crate) type Last = Option<(Opened, Option<String>)>;

/// Reads what `caller` did last in a session.
///
/// # Errors
/// When the ledger cannot be read.
pub(crate) fn remembered(
    ledger: &Ledger,
    session: &str,
    caller: Option<&str>,
    settings: &FixationSettings,
) -> Result<(Fixation, Last), ReadLedgerError> {
    let mut count = EVENTS;
    loop {
        let events = ledger.last_events(session, count)?;
        let begins = u64::try_from(events.len()).is_ok_and(|read| read < count);
        let afresh = events.iter().any(|event| starts_afresh(&event.draft));
        let (fixation, last) = replayed(events, caller, Fixation::new(settings.clone()));
        // Only the count of a repetition depends on what came before.
        if begins || afresh || fixation.events().is_empty() {
            return Ok((fixation, last));
        }
        count = count.saturating_mul(FURTHER);
    }
}

/// Whether repetitions are counted afresh: after a message of the user, earlier ones belong to
/// another task.
fn starts_afresh(draft: &Draft) -> bool {
    match draft {
        Draft::Said(message) => message.role == Role::User,
        draft => matches!(draft, Draft::Cleared),
    }
}

/// Lists the repetitions without progress in a session, from its events: first the agent's, then
/// those of each sub-agent.
#[must_use]
pub fn repetitions(events: &[Event], settings: &FixationSettings) -> Vec<FixationEvent> {
    let mut callers: Vec<Option<&str>> = vec![None];
    for event in events {
        if let Draft::Opened(opened) = &event.draft
            && !callers.contains(&opened.caller_id.as_deref())
        {
            callers.push(opened.caller_id.as_deref());
        }
    }
    let of = |caller: Option<&str>| {
        let fixation = Fixation::new(settings.clone());
        replayed(events.iter().cloned(), caller, fixation).0.events().to_vec()
    };
    callers.into_iter().flat_map(of).collect()
}

/// Reads the latest calls of a session, with which the utility gate compares a new one.
///
/// # Errors
/// When the ledger cannot be read.
pub(crate) fn recall(
    guard: &Guard,
    session: &str,
    calls: &mut Calls,
) -> Result<(), ReadLedgerError> {
    let (ledger, catalog) = (guard.ledger(), guard.catalog());
    let mut open: HashMap<String, Opened> = HashMap::new();
    for event in ledger.last_events(session, EVENTS)? {
        match event.draft {
            Draft::Opened(opened) if !opened.links.speculative => {
                open.insert(opened.execution_id.clone(), opened);
            }
            Draft::Closed(closed) => {
                let Some(opened) = open.remove(&closed.execution_id) else { continue };
                let result = ledger.result(&closed.recorded_digest)?.unwrap_or_default();
                let tool = catalog.get(&opened.tool).cloned();
                let tool = tool.unwrap_or_else(|| Tool::named(&opened.tool));
                let ran = RecentCall {
                    execution_id: opened.execution_id,
                    tool: opened.tool,
                    digest: opened.arguments_digest,
                    words: words(&opened.arguments),
                    succeeded: closed.status == Status::Completed,
                    result_chars: String::from_utf8_lossy(&result).chars().count(),
                    outdated: false,
                };
                calls.ran(ran, guard.writes_with(&tool, &opened.arguments));
            }
            Draft::Cleared => calls.forget_recent(),
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn ending_of(status: Status) -> Ending {
    match status {
        Status::Completed => Ending::Succeeded,
        Status::Open => Ending::Unknown,
        _ => Ending::Failed,
    }
}

/// Whether admission refused a call of `caller`. A call that a gate denied may be allowed later.
fn is_refusal(rejected: &Rejected, caller: Option<&str>) -> bool {
    rejected.status == Status::Refused && rejected.call.caller_id.as_deref() == caller
}

fn replayed(
    events: impl IntoIterator<Item = Event>,
    caller: Option<&str>,
    mut fixation: Fixation,
) -> (Fixation, Last) {
    let mut open: HashMap<String, Opened> = HashMap::new();
    let mut last = None;
    for event in events {
        match event.draft {
            Draft::Opened(opened) if opened.links.speculative => {}
            Draft::Opened(opened) if opened.caller_id.as_deref() == caller => {
                open.insert(opened.execution_id.clone(), opened);
            }
            Draft::Closed(closed) => {
                let Some(opened) = open.remove(&closed.execution_id) else { continue };
                let nudge = fixation.record(Step {
                    tool: &opened.tool,
                    arguments: &Arguments::from(&opened.arguments),
                    // The same result has the same digest.
                    result: &closed.raw_digest.to_string(),
                    ending: ending_of(closed.status),
                    writes: None,
                });
                last = Some((opened, nudge));
            }
            // A call that the agent made and admission refused, like one that failed.
            Draft::Rejected(rejected) if is_refusal(&rejected, caller) => {
                fixation.record(Step {
                    tool: &rejected.call.tool,
                    arguments: &Arguments::from(&rejected.call.arguments),
                    result: &rejected.answer,
                    ending: Ending::Failed,
                    writes: None,
                });
            }
            draft if starts_afresh(&draft) => fixation.reset(),
            _ => {}
        }
    }
    (fixation, last)
}
