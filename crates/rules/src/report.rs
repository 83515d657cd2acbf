use std::collections::BTreeMap;

use counterfoil_model::{Finding, Grade, Judgement, Verdict};
use serde::Serialize;

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
    /// Whether the log has no list of tools, and a list would make more claims checkable.
    pub lacks_tools: bool,
    /// The number of claims by verdict: `supported`, `contradicted`, `unsupported`, `not
    /// checkable`; `not judged` counts claims that no rule judged, and `read` those that a judge
    /// read without objection.
    pub claims: BTreeMap<&'static str, usize>,
    /// The number of claims that no rule judged, by message.
    pub not_judged: BTreeMap<usize, usize>,
}

/// The key for claims that no rule judged.
pub(crate) const NOT_JUDGED: &str = "not judged";
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
