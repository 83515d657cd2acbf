use std::collections::BTreeSet;

use counterfoil_model::{Severity, Transcript};
use counterfoil_report::{Baseline, Fragment, KnownFinding, Summary, conversation_of};

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

/// The names by which known findings refer to a transcript.
pub(super) fn names(transcript: &Transcript) -> impl Iterator<Item = String> {
    [Some(transcript.id.clone()), conversation_of(transcript)].into_iter().flatten()
}

/// What occurred in a run.
#[derive(Default)]
pub(super) struct Occurred {
    pub(super) findings: Baseline,
    /// The names of the transcripts, as [`names`] returns them.
    pub(super) transcripts: BTreeSet<String>,
    /// The names of those that were not read to their end, or not in every line.
    pub(super) damaged: BTreeSet<String>,
    /// The names of those with answers that no judge read.
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
        self.unjudged.extend(names(transcript));
    }

    /// Whether the run looked for a finding in the whole of its conversation. `runs` says whether a
    /// rule was on.
    pub(super) fn was_checked(&self, runs: impl Fn(&str) -> bool, known: &KnownFinding) -> bool {
        let name = known.conversation.as_ref().unwrap_or(&known.transcript);
        runs(&known.rule)
            && self.transcripts.contains(name)
            && !self.damaged.contains(name)
            && !(is_judge(&known.rule) && self.unjudged.contains(name))
    }
}
