use std::collections::HashMap;

use counterfoil_admission::{
    Admission, Context, Ending, Fixation, FixationKind, Issue, IssueSeverity, Needle, Step, code,
    needles,
};
use counterfoil_model::{Arguments, Gap, Message, MessageKind, Role, Status};

use crate::facts::{Execution, Facts};

use super::admissions::Admissions;
use super::mentions::{FirstMentions, Recorded};

/// The issues of the calls, found once for all call rules.
pub(super) fn admissions<'f>(facts: &'f Facts<'_>) -> &'f Admissions {
    facts.judged().admissions.get_or_init(|| find(facts))
}

/// Checks every judged call against the catalog and the messages before it.
fn find(facts: &Facts<'_>) -> Admissions {
    let executions = facts.record().executions();
    let judged = facts.record().count_before(facts.first());
    if judged == executions.len() {
        return Admissions::default();
    }
    let (admission, _) =
        Admission::compile(&facts.transcript().catalog, facts.settings().admission.clone());
    let needles_of = |(at, execution): (usize, &Execution<'_>)| {
        // Of earlier executions, only failures need needles, to recognise what they merely repeat.
        match at < judged && execution.status().succeeded() {
            true => Vec::new(),
            false => needles_of(execution),
        }
    };
    let needles: Vec<Vec<Needle>> = executions.iter().enumerate().map(needles_of).collect();
    let mentions = FirstMentions::find(facts, &needles, judged);
    let (mut issues, mut unchecked) = (Vec::new(), 0);
    let partial = is_partial_list(facts, &admission);
    for (at, execution) in executions.iter().enumerate().skip(judged) {
        let Some(call) = execution.call else { continue };
        let recorded = Recorded { mentions: &mentions, execution };
        // If the record has gaps, a value may come from a missing part.
        let whole = facts.transcript().completeness.is_complete_before(execution.called_at);
        let context: &dyn Context = if whole { &recorded } else { &Silent };
        let found = admission.admit(call, Some(context)).issues;
        unchecked += usize::from(found.iter().any(|i| i.code == code::INVALID_SCHEMA));
        let found = found.into_iter();
        let found = found.filter(|issue| !(partial && issue.code == code::UNKNOWN_TOOL));
        let known = facts.transcript().catalog.get(&call.tool);
        let checked = known.is_some_and(|tool| tool.parameters.is_some());
        let reported = |issue: &Issue| is_reported(facts, (at, execution), issue, checked);
        issues.extend(found.filter(reported).map(|issue| (at, issue)));
    }
    issues.extend(repeated(facts, judged));
    Admissions { issues, unchecked }
}

/// Arguments longer than this contain content, not values that need a source.
const LONGEST_SEARCHED: usize = 16 * 1024;

fn needles_of(execution: &Execution<'_>) -> Vec<Needle> {
    if execution.call.is_none_or(|call| call.arguments.as_str().len() > LONGEST_SEARCHED) {
        return Vec::new();
    }
    let arguments = execution.call.and_then(|call| call.arguments.parse().ok());
    arguments.map(|value| needles(&value, false)).unwrap_or_default()
}

/// Whether a tool that is not in the recorded catalog has answered. The catalog is incomplete then,
/// and no tool is proven to be missing.
fn is_partial_list(facts: &Facts<'_>, admission: &Admission) -> bool {
    let mut all = facts.record().executions().iter().enumerate();
    all.any(|(at, execution)| {
        execution.agent.is_none()
            && has_answered(facts, at)
            && execution.call.is_some_and(|call| !admission.has(&call.tool))
    })
}

/// Whether a call succeeded, also by the words of its result: "Error: unknown tool `x`" is no
/// answer of a tool.
fn has_answered(facts: &Facts<'_>, at: usize) -> bool {
    facts.deed(at).is_some_and(|(_, deed)| deed.status().succeeded())
}

/// Whether an issue of a recorded call is worth a finding, given how the call ended.
fn is_reported(
    facts: &Facts<'_>,
    (at, execution): (usize, &Execution<'_>),
    issue: &Issue,
    checked: bool,
) -> bool {
    let succeeded = execution.status().succeeded();
    match issue.code {
        // A tool that answered exists, whatever its name. A sub-agent has its own list of tools.
        code::UNKNOWN_TOOL => !has_answered(facts, at) && execution.agent.is_none(),
        // A tool without schema may take free text.
        code::MALFORMED_ARGUMENTS => checked || !succeeded,
        // The record of a gateway has no words of the user, where the value may come from.
        code::UNGROUNDED_VALUE | code::UNGROUNDED_PATH => {
            facts.transcript().messages.iter().any(is_user_message)
        }
        _ => true,
    }
}

/// One finding for each run of identical calls: at the call that the guard would refuse, otherwise
/// at the one with the hint.
fn repeated(facts: &Facts<'_>, judged: usize) -> Vec<(usize, Issue)> {
    let catalog = &facts.transcript().catalog;
    let gaps = facts.transcript().completeness.gaps();
    if gaps.iter().any(|(gap, _)| *gap == Gap::LossyFormat) {
        // What the format dropped may be how the calls differed.
        return Vec::new();
    }
    let mut sessions: HashMap<Option<&str>, Fixation> = HashMap::new();
    let mut found: Vec<(usize, Issue)> = Vec::new();
    let mut heard = 0;
    let nothing = Arguments::raw("{}");
    let begin = begin_of_run(facts, judged);
    for (at, execution) in facts.record().executions().iter().enumerate().skip(begin) {
        let Some(call) = execution.call else { continue };
        let since = facts.transcript().messages.get(heard..execution.called_at);
        if since.unwrap_or_default().iter().any(is_user_message) {
            // A message of the user may be a reason to repeat a call.
            sessions.values_mut().for_each(Fixation::reset);
        }
        heard = heard.max(execution.called_at);
        let session = sessions
            .entry(execution.agent)
            .or_insert_with(|| Fixation::new(facts.settings().fixation.clone()));
        let events = session.events().len();
        let ending = match execution.status() {
            Status::Completed => Ending::Succeeded,
            Status::Failed | Status::Denied | Status::Refused => Ending::Failed,
            _ => Ending::Unknown,
        };
        session.record(Step {
            tool: &call.tool,
            arguments: if call.arguments.as_str().is_empty() { &nothing } else { &call.arguments },
            result: execution.text(),
            ending,
            writes: catalog.get(&call.tool).and_then(|tool| tool.effects.writes),
        });
        let Some(event) = session.events().get(events) else { continue };
        let what = match event.kind {
            FixationKind::Call => {
                format!("`{}` was called {} times", call.tool, event.count)
                    + " with the same arguments, and nothing changed in between"
            }
            FixationKind::Cycle { period } => {
                format!("the same {period} calls were repeated {} times", event.count)
                    + " in a cycle, and nothing changed in between"
            }
            FixationKind::Name => {
                format!("`{}` was called {} times in a row", call.tool, event.count)
            }
        };
        let severity = if event.refused { IssueSeverity::Block } else { IssueSeverity::Warn };
        let issue = Issue::new(code::REPEATED_CALL, severity, &call.tool, what);
        let first = event.count == event.threshold;
        let refusal = event.refused && event.count == facts.settings().fixation.refuse;
        if at >= judged && (first || refusal) {
            found.push((at, issue));
        }
    }
    found
}

/// The first execution since the user's last message before a judged execution. Earlier calls do
/// not count.
fn begin_of_run(facts: &Facts<'_>, judged: usize) -> usize {
    let called_at = facts.record().executions().get(judged).map_or(0, |e| e.called_at);
    let before = facts.transcript().messages.get(..called_at).unwrap_or_default();
    before.iter().rposition(is_user_message).map_or(0, |at| facts.record().count_before(at + 1))
}

fn is_user_message(message: &Message) -> bool {
    message.role == Role::User
        && message.kind == MessageKind::Ordinary
        && message.outcomes.is_empty()
        && !message.text.is_empty()
}

/// A context that reports nothing as missing.
struct Silent;

impl Context for Silent {
    fn mentions(&self, _text: &str) -> bool {
        true
    }

    fn is_missing(&self, _path: &str) -> bool {
        false
    }
}
