use std::collections::BTreeMap;

use counterfoil_model::{Finding, Grade, Judgement, Mode, Transcript, Verdict};
use serde::Serialize;

use crate::facts::{Facts, Indexed};
use crate::findings::Findings;
use crate::rule::rules;
use crate::settings::Settings;

/// What was found in one transcript.
#[derive(Debug, Default)]
pub struct Report {
    /// What is wrong, by message, place and code.
    pub findings: Vec<Finding>,
    /// Every claim that a rule decided, by message and place.
    pub judgements: Vec<Judgement>,
    /// Sizes.
    pub counts: Counts,
}

/// How much was judged.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Messages in the transcript.
    pub messages: usize,
    /// Tool calls in the transcript.
    pub calls: usize,
    /// Those of them that nobody can check, because the schema of their tool cannot be used; none where
    /// the rules about calls are off.
    pub unchecked_calls: usize,
    /// Answers that are longer than what is read of one: what stands behind that is not judged, and
    /// counts as one claim that is not checkable.
    pub unread_answers: usize,
    /// Answers with sentences in another language than English: no rule reads their prose, and each
    /// counts as one claim that is not checkable.
    pub foreign_answers: usize,
    /// Claims by verdict: `supported`, `contradicted`, `unsupported`, `not checkable`.
    pub claims: BTreeMap<&'static str, usize>,
}

impl Counts {
    /// Adds those of another transcript.
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

    /// Adds the claims that a judge read as false.
    pub fn add_read(&mut self, findings: &[Finding]) {
        for finding in findings.iter().filter(|finding| finding.grade == Grade::Read) {
            *self.claims.entry(finding.verdict.name()).or_default() += 1;
        }
    }

    /// The share of claims that could be checked; `None` when there were none.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        let all: usize = self.claims.values().sum();
        let not = self.claims.get(Verdict::NotCheckable.name()).copied().unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        (all > 0).then(|| (all - not) as f64 / all as f64)
    }
}

/// Judges a transcript by every rule that is not off.
#[must_use]
pub fn check(transcript: &Transcript, settings: &Settings) -> Report {
    check_from(transcript, settings, 0)
}

/// Judges the messages of a transcript from position `first` on: what they say and what they
/// call. All that went before is evidence, and is only looked at where a claim asks for it.
///
/// Finds exactly what [`check`] finds in those messages. The counts of messages and calls are those
/// of the whole transcript.
#[must_use]
pub fn check_from(transcript: &Transcript, settings: &Settings, first: usize) -> Report {
    Indexed::of(transcript).check_from(settings, first)
}

/// Lets every rule that is not off say what it found.
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
    report
}
