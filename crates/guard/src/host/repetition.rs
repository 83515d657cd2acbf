//! Repetition without progress, over processes: what a session did last stands in the ledger.

use counterfoil_model::Arguments;
use counterfoil_rules::Fixation;

use super::before::HostedCall;
use crate::guard::Guard;
use crate::repeated::{Last, remembered};
use crate::session::{Session, Surroundings};

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

fn past(guard: &Guard, session: &Session, around: &Surroundings) -> Option<(Fixation, Last)> {
    let fixation = Fixation::new(guard.settings().fixation.clone());
    remembered(guard.ledger(), session.id(), around.caller.as_deref(), fixation).ok()
}
