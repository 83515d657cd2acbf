//! Repetition without progress, over processes: what a session did last stands in the ledger.

use std::collections::HashMap;

use countersign_model::{Arguments, Status};
use countersign_rules::{Ending, Fixation, Step};

use super::before::HostedCall;
use crate::guard::Guard;
use crate::ledger::{Draft, Opened};
use crate::session::{Session, Surroundings};

/// How many of the latest events are looked at: enough for the longest cycle that is looked for.
const EVENTS: u64 = 96;

/// What to say about a call that would repeat failures; nothing when the past cannot be read.
pub(super) fn before(
    guard: &Guard,
    session: &Session,
    hosted: &HostedCall,
    around: &Surroundings,
) -> Option<String> {
    let (fixation, _) = past(guard, session, around)?;
    let arguments = Arguments::from(&guard.redactor().redact_value(&hosted.arguments));
    fixation.before(&hosted.tool.name, &arguments).map(|issue| issue.message)
}

/// What to say after a call that was the same once more.
pub(super) fn after(
    guard: &Guard,
    session: &Session,
    hosted: &HostedCall,
    around: &Surroundings,
) -> Option<String> {
    let (_, last) = past(guard, session, around)?;
    last.filter(|(opened, _)| opened.call_id == hosted.call.id).and_then(|(_, nudge)| nudge)
}

/// The latest call that ended, with what is to be said about it.
type Last = Option<(Opened, Option<String>)>;

fn past(guard: &Guard, session: &Session, around: &Surroundings) -> Option<(Fixation, Last)> {
    let events = guard.ledger().last_events(session.id(), EVENTS).ok()?;
    let mut fixation = Fixation::new(guard.settings().fixation.clone());
    let mut open: HashMap<String, Opened> = HashMap::new();
    let mut last = None;
    for event in events {
        match event.draft {
            Draft::Opened(opened) if opened.caller_id == around.caller => {
                open.insert(opened.execution_id.clone(), opened);
            }
            Draft::Closed(closed) => {
                let Some(opened) = open.remove(&closed.execution_id) else { continue };
                let ending = match closed.status {
                    Status::Completed => Ending::Succeeded,
                    Status::Open => Ending::Unknown,
                    _ => Ending::Failed,
                };
                let nudge = fixation.record(Step {
                    tool: &opened.tool,
                    arguments: &Arguments::from(&opened.arguments),
                    // The same result has the same digest.
                    result: &closed.raw_digest.to_string(),
                    ending,
                    writes: None,
                });
                last = Some((opened, nudge));
            }
            // The user spoke: what was repeated before was another task.
            Draft::Said(said) if said.role == countersign_model::Role::User => fixation.reset(),
            _ => {}
        }
    }
    Some((fixation, last))
}
