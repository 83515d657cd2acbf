use std::collections::BTreeSet;

use counterfoil_model::{Severity, Transcript};
use counterfoil_report::{Baseline, Fragment, Summary};

use crate::rule_names::is_judge;

/// The results for one input.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) fragments: Vec<Fragment>,
    pub(super) summary: Summary,
    pub(super) occurred: Occurred,
    pub(super) worst: Option<Severity>,
    /// The number of new warnings, shown or not.
    pub(super) warnings: usize,
    pub(super) unreadable: bool,
    /// The feedback that an agent would get for an answer that is held back.
    pub(super) feedback: Option<String>,
}

impl Outcome {
    pub(super) fn new(statistics: bool) -> Self {
        Self { summary: Summary::new(statistics), ..Self::default() }
    }
}

/// What occurred in a run.
#[derive(Default)]
pub(super) struct Occurred {
    pub(super) findings: Baseline,
    /// The ids of the transcripts.
    pub(super) transcripts: BTreeSet<String>,
    /// The ids of those that were not read to their end, or not in every line.
    pub(super) damaged: BTreeSet<String>,
    /// The ids of those with answers that no judge read.
    pub(super) unjudged: BTreeSet<String>,
}

impl Occurred {
    /// Adds what occurred elsewhere.
    pub(super) fn merge(&mut self, other: Self) {
        self.findings.merge(other.findings);
        self.transcripts.extend(other.transcripts);
        self.damaged.extend(other.damaged);
        self.unjudged.extend(other.unjudged);
    }

    /// Notes that an input could not be read to its end, so that what is missing is no surprise.
    pub(super) fn cut_off(&mut self) {
        self.damaged.extend(self.transcripts.iter().cloned());
    }

    /// Notes that no judge read some of the answers in a transcript.
    pub(super) fn left_unjudged(&mut self, transcript: &Transcript) {
        self.unjudged.insert(transcript.id.clone());
    }

    /// Whether the run looked for findings of a rule in the whole of a transcript. `runs` says
    /// whether the rule was on.
    pub(super) fn was_checked(&self, runs: impl Fn(&str) -> bool, rule: &str, id: &str) -> bool {
        runs(rule)
            && self.transcripts.contains(id)
            && !self.damaged.contains(id)
            && !(is_judge(rule) && self.unjudged.contains(id))
    }
}
