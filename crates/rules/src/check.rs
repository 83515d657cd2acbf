use std::collections::BTreeMap;

use counterfoil_model::{
    ClaimKind, EvidenceSource, Finding, Grade, Judgement, Mode, Span, Subject, Transcript, Verdict,
};
use serde::Serialize;

use crate::facts::{Facts, Indexed};
use crate::findings::Findings;
use crate::prose::asserted;
use crate::rule::rules;
use crate::settings::Settings;

/// The result of checking one transcript.
#[derive(Debug, Default)]
pub struct Report {
    /// The findings, by message, position and code.
    pub findings: Vec<Finding>,
    /// Every claim that a rule decided, by message and position.
    pub judgements: Vec<Judgement>,
    /// The counts.
    pub counts: Counts,
}

/// How much was judged.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The number of messages in the transcript.
    pub messages: usize,
    /// The number of tool calls in the transcript.
    pub calls: usize,
    /// The number of calls that cannot be checked because their tool's schema is invalid; 0 if the
    /// rules about calls are off.
    pub unchecked_calls: usize,
    /// The number of answers that are too long to be read completely. The rest of each is not
    /// judged and counts as one claim that is not checkable.
    pub unread_answers: usize,
    /// The number of answers with sentences in a language other than English. No rule reads their
    /// prose, and each counts as one claim that is not checkable.
    pub foreign_answers: usize,
    /// The number of claims by verdict: `supported`, `contradicted`, `unsupported`, `not
    /// checkable`; `not judged` counts claims that no rule judged, and `read` those that a judge
    /// read without objection.
    pub claims: BTreeMap<&'static str, usize>,
    /// The number of claims that no rule judged, by message.
    pub not_judged: BTreeMap<usize, usize>,
}

/// The key for claims that no rule judged.
const NOT_JUDGED: &str = "not judged";
/// The key for claims that a judge read without objection.
const READ: &str = "read";

impl Counts {
    /// Adds the counts of another transcript.
    pub fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.calls += other.calls;
        self.unchecked_calls += other.unchecked_calls;
        self.unread_answers += other.unread_answers;
        self.foreign_answers += other.foreign_answers;
        for (verdict, count) in &other.claims {
            *self.claims.entry(verdict).or_default() += count;
        }
    }

    /// The share of claims that were judged; `None` if there were none.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        let all: usize = self.claims.values().sum();
        let of = |name| self.claims.get(name).copied().unwrap_or(0);
        let not = of(Verdict::NotCheckable.name()) + of(NOT_JUDGED);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        (all > 0).then(|| (all - not) as f64 / all as f64)
    }

    /// Adds the messages that a judge read, and its findings there.
    pub fn add_read(&mut self, turns: &[usize], findings: &[Finding]) {
        for turn in turns {
            let is_read = |f: &&Finding| f.turn == *turn && f.grade == Grade::Read;
            let mut left = self.not_judged.remove(turn).unwrap_or(0);
            *self.claims.entry(NOT_JUDGED).or_default() -= left;
            for finding in findings.iter().filter(is_read) {
                *self.claims.entry(finding.verdict.name()).or_default() += 1;
                left = left.saturating_sub(1);
            }
            *self.claims.entry(READ).or_default() += left;
        }
    }
}

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
    Indexed::of(transcript).check_from(settings, first)
}

/// Runs every rule that is not off.
pub(crate) fn judge(facts: &Facts<'_>, settings: &Settings) -> Report {
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
    report.counts.unchecked_calls = facts.unchecked_calls();
    report.counts.unread_answers = facts.answers_read_in_part();
    report.counts.foreign_answers = facts.foreign_answers();
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

/// Removes findings that repeat a proven finding of the same rule in the same message: by the same
/// call, about the same words, or about the same missing action. One false statement is one
/// finding.
fn drop_repeats(findings: &mut Vec<Finding>) {
    let mut told: Vec<Finding> = Vec::new();
    findings.retain(|finding| {
        let is_claim = matches!(finding.subject, Subject::Claim { .. });
        if !is_claim || finding.grade != Grade::Proven {
            return true;
        }
        let again = told.iter().any(|other| says_again(other, finding));
        if !again {
            told.push(finding.clone());
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
    same_call || span.overlaps(*other) || same_act
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
