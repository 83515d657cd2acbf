use std::collections::BTreeMap;
use std::rc::Rc;

use counterfoil_model::{
    ClaimKind, ClauseReading, EvidenceSource, Finding, Grade, Judgement, Mode, Span, Subject,
    Transcript, Verdict,
};

use crate::facts::{Facts, Known, Upshot};
use crate::findings::Findings;
use crate::prose::asserted;
use crate::registry::rules;
use crate::report::{NOT_JUDGED, Report};
use crate::settings::Settings;
use crate::why::readings;

/// Checks a transcript with every rule that is not off.
#[must_use]
pub fn check(transcript: &Transcript, settings: &Settings) -> Report {
    check_from(transcript, settings, 0)
}

/// Checks the messages of a transcript from position `first` on: their claims and their calls.
/// Everything before is evidence, and is only read where a claim needs it.
///
/// The findings are exactly those that [`check`] has for these messages. The counts of messages and
/// calls cover the whole transcript.
#[must_use]
pub fn check_from(transcript: &Transcript, settings: &Settings, first: usize) -> Report {
    Indexed::new(transcript).check_from(settings, first)
}

/// A transcript with its calls, results and deeds prepared, for checking it repeatedly: with other
/// settings, or from another message on.
///
/// What the rules look up is cached. Results are read when the first claim needs them.
#[derive(Debug)]
pub struct Indexed<'t>(Rc<Known<'t>>);

impl<'t> Indexed<'t> {
    /// Joins calls and results. Linear in the number of messages.
    #[must_use]
    pub fn new(transcript: &'t Transcript) -> Self {
        Self(Rc::new(Known::new(transcript)))
    }

    /// The upshot of the execution at an index of the record.
    #[must_use]
    pub fn upshot(&self, at: usize) -> Option<Upshot> {
        self.0.upshot(at)
    }

    /// Checks the messages from position `first` on, like [`check_from`].
    #[must_use]
    pub fn check_from(&self, settings: &'t Settings, first: usize) -> Report {
        judge(&Facts::within(Rc::clone(&self.0), settings, first), settings)
    }

    /// How every clause of the agent's answers was read, in order.
    #[must_use]
    pub fn readings(&self, settings: &'t Settings) -> Vec<ClauseReading> {
        readings(&Facts::within(Rc::clone(&self.0), settings, 0))
    }
}

/// Runs every rule that is not off.
fn judge(facts: &Facts<'_>, settings: &Settings) -> Report {
    let mut report = Report::default();
    for rule in rules() {
        let mode = settings.mode(rule.meta());
        if mode == Mode::Off {
            continue;
        }
        let mut findings =
            Findings::new(rule.meta(), mode, &mut report.findings, &mut report.judgements);
        rule.check(facts, &mut findings);
    }
    drop_repeats(&mut report.findings);
    let transcript = facts.transcript();
    report.counts.messages = transcript.messages.len();
    report.counts.calls = transcript.messages.iter().map(|m| m.calls.len()).sum();
    report.counts.unchecked_calls =
        facts.judged().admissions.get().map_or(0, |found| found.unchecked);
    report.counts.unread_answers = facts.answers_read_in_part();
    report.counts.foreign_answers = facts.foreign_answers();
    report.counts.lacks_tools = lacks_tools(facts, &report.judgements);
    let unread = report.counts.unread_answers + report.counts.foreign_answers;
    if unread > 0 {
        report.counts.claims.insert(Verdict::NotCheckable.name(), unread);
    }
    for judgement in &report.judgements {
        *report.counts.claims.entry(judgement.verdict.name()).or_default() += 1;
    }
    report.counts.not_judged = not_judged(facts, &report.judgements);
    let not_judged: usize = report.counts.not_judged.values().sum();
    if not_judged > 0 {
        report.counts.claims.insert(NOT_JUDGED, not_judged);
    }
    report
}

/// Whether a claim about an action or a tool is not checkable only because the tools are unknown.
/// An agent that can run commands may have done it by other means, whatever tools there are.
fn lacks_tools(facts: &Facts<'_>, judgements: &[Judgement]) -> bool {
    let open = |judgement: &Judgement| {
        judgement.verdict == Verdict::NotCheckable
            && ["FK010", "FK014"].contains(&judgement.rule.0)
            && !facts.acts_freely_before(judgement.claim.turn)
    };
    !facts.transcript().catalog.is_known() && judgements.iter().any(open)
}

/// Removes findings that repeat a proven finding of the same rule in the same message: by the same
/// call, about the same words, or about the same missing action. One false statement is one
/// finding; two missing actions in one sentence are two.
fn drop_repeats(findings: &mut Vec<Finding>) {
    let mut kept: Vec<Finding> = Vec::new();
    findings.retain(|finding| {
        let is_claim = matches!(finding.subject, Subject::Claim { .. });
        if !is_claim || finding.grade != Grade::Proven {
            return true;
        }
        let again = kept.iter().any(|other| says_again(other, finding));
        if !again {
            kept.push(finding.clone());
        }
        !again
    });
}

fn says_again(first: &Finding, second: &Finding) -> bool {
    let (Subject::Claim { claim: one, span }, Subject::Claim { claim: two, span: other }) =
        (&first.subject, &second.subject)
    else {
        return false;
    };
    if (first.turn, first.code) != (second.turn, second.code) {
        return false;
    }
    let call = |finding: &Finding| {
        let mut sources = finding.evidence.iter().map(|piece| piece.source.clone());
        sources.find(|source| !matches!(source, EvidenceSource::Message { .. }))
    };
    let by = call(first);
    let same_call = by.is_some() && by == call(second);
    let missing = [first, second].iter().all(|f| f.verdict == Verdict::Unsupported);
    let named = !one.objects.is_empty() || matches!(one.kind, ClaimKind::Outcome(_));
    let same_act = missing && named && one.kind == two.kind && one.objects == two.objects;
    // Two readings of one clause are one statement.
    let two_acts = missing
        && span != other
        && matches!((one.kind, two.kind), (ClaimKind::Action(a), ClaimKind::Action(b)) if a != b);
    same_call || (span.overlaps(*other) && !two_acts) || same_act
}

/// The number of clauses that assert something no rule judged, by message.
fn not_judged(facts: &Facts<'_>, judgements: &[Judgement]) -> BTreeMap<usize, usize> {
    let mut judged: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for judgement in judgements {
        judged.entry(judgement.claim.turn).or_default().push(judgement.claim.span);
    }
    let mut counts = BTreeMap::new();
    for answer in facts.answers_read() {
        let spans = judged.get(&answer.turn).map(Vec::as_slice).unwrap_or_default();
        let count = asserted(&answer.prose)
            .filter(|clause| !spans.iter().any(|span| span.overlaps(*clause)))
            .count();
        if count > 0 {
            counts.insert(answer.turn, count);
        }
    }
    counts
}
