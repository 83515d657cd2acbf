//! The calls of an answer, before the client sees them.

use counterfoil_guard::{
    Asking, CallError, Guard, HostedCall, Judged, Listed, Reason, Surroundings, without_hidden,
};
use counterfoil_model::{Message, Origin, ToolCall};

use super::sessions::Seen;
use super::shown::Shown;

/// What is to be said about the calls of an answer.
#[derive(Debug, Default)]
pub(super) struct CallsJudged {
    /// Those that may go on, as the client is to get them.
    pub(super) passed: Vec<ToolCall>,
    /// Those that may not, and what the model is to be told.
    pub(super) refused: Vec<RefusedCall>,
    /// What an operator should know: that the model repeats itself, that a secret stands in a call.
    pub(super) notes: Vec<String>,
    /// What the client gets is not what the model wrote: its thoughts are gone.
    pub(super) stripped: bool,
}

/// A call that may not go on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RefusedCall {
    pub(super) call: ToolCall,
    pub(super) why: String,
    /// A rule of the operator says so; else it does not fit its tool.
    pub(super) denied: bool,
}

/// Holds the calls of an answer against the tools of its request and the gates.
pub(super) async fn judge(
    guard: &Guard,
    seen: &Seen,
    shown: &Shown,
    answer: &[Message],
    asking: Asking,
) -> Result<CallsJudged, CallError> {
    let mut judged = CallsJudged::default();
    let done: Vec<&str> = answer
        .iter()
        .flat_map(|message| &message.outcomes)
        .map(|outcome| outcome.call_id.as_str())
        .collect();
    // What the server runs itself has happened.
    let calls = answer.iter().flat_map(|message| &message.calls);
    for call in calls.filter(|call| call.id.is_empty() || !done.contains(&call.id.as_str())) {
        let visible = without_hidden(call.clone());
        judged.stripped |= visible.arguments != call.arguments;
        let (objection, notes) = one(guard, seen, shown, &visible, asking).await?;
        judged.notes.extend(notes.into_iter().map(|note| format!("`{}`: {note}", visible.tool)));
        match objection {
            None => judged.passed.push(visible),
            Some((why, denied)) => {
                judged.refused.push(RefusedCall { call: visible, why, denied });
            }
        }
    }
    Ok(judged)
}

/// Why a call may not go on, with whether a rule of the operator says so; and what else is to be
/// said about it.
async fn one(
    guard: &Guard,
    seen: &Seen,
    shown: &Shown,
    call: &ToolCall,
    asking: Asking,
) -> Result<(Option<(String, bool)>, Vec<String>), CallError> {
    let around = Surroundings::default();
    // Where a request has no tools of its own, nobody knows which there are.
    let known = shown.transcript.catalog.iter().next().is_some();
    if !known {
        let hosted = HostedCall::of_unknown(call.clone(), Origin::External);
        let before = guard.before(&seen.session, &hosted, &around, asking).await?;
        return Ok((denied(&before.judged), before.notes));
    }
    let listed =
        guard.before_listed(&seen.session, call.clone(), &shown.tools, &around, asking).await?;
    Ok(match listed {
        Listed::Refused(answer, _) => (Some((answer.text, false)), Vec::new()),
        Listed::Judged(_, before) => (denied(&before.judged), before.notes),
    })
}

fn denied(judged: &Judged) -> Option<(String, bool)> {
    let Judged::Denied(reasons) = judged else { return None };
    let told = |reason: &Reason| match &reason.help {
        Some(help) => format!("{} ({help})", reason.message),
        None => reason.message.clone(),
    };
    Some((reasons.iter().map(told).collect::<Vec<_>>().join("; "), true))
}
