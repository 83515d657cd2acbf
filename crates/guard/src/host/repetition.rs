//! Detects repetition without progress. A long-lived process remembers what the session did last; a
//! process that handles a single event reads it from the ledger.

use counterfoil_admission::{Fixation, Step};
use counterfoil_ledger::Closed;
use counterfoil_model::{Arguments, ExactValue};

use super::hosted_call::HostedCall;
use crate::admitted::Admitted;
use crate::guard::Guard;
use crate::repeated::{Last, ending_of, remembered};
use crate::session::{Session, Surroundings};

/// The note about a call that would repeat failures; nothing if the earlier calls cannot be read.
pub(super) fn before(
    guard: &Guard,
    session: &Session,
    call: &Admitted,
    around: &Surroundings,
) -> Option<String> {
    let (tool, arguments) = (&call.tool().name, redacted(guard, call.exact_arguments()));
    let issue = if around.caller.is_some() {
        past(guard, session, around)?.0.before(tool, &arguments)
    } else {
        if !session.conduct().past_known() {
            let past = past(guard, session, around)?.0;
            session.conduct().know_past(past);
        }
        session.conduct().fixation.before(tool, &arguments)
    };
    issue.map(|issue| issue.message)
}

/// The note after a call that repeated an earlier one.
pub(super) fn after(
    guard: &Guard,
    session: &Session,
    hosted: &HostedCall,
    around: &Surroundings,
    closed: &Closed,
) -> Option<String> {
    session.conduct().ended(ending_of(closed.status));
    if around.caller.is_some() || !session.conduct().past_known() {
        let (_, last) = past(guard, session, around)?;
        return last.filter(|(opened, _)| opened.call_id == hosted.call.id).and_then(|last| last.1);
    }
    session.conduct().fixation.record(Step {
        tool: &hosted.tool.name,
        arguments: &redacted(guard, &hosted.arguments),
        result: &closed.raw_digest.to_string(),
        ending: ending_of(closed.status),
        writes: None,
    })
}

fn redacted(guard: &Guard, arguments: &ExactValue) -> Arguments {
    Arguments::from(&guard.redactor().redact_exact(arguments))
}

fn past(guard: &Guard, session: &Session, around: &Surroundings) -> Option<(Fixation, Last)> {
    let (caller, settings) = (around.caller.as_deref(), &guard.settings().fixation);
    remembered(guard.ledger(), session.id(), caller, settings).ok()
}
