use std::ops::Range;

use super::counts::Counts;
use super::run_summary::{OutputVerdict, RunSummary};
use crate::activity::ActivityKind;

/// The results found so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    /// A number of tests from a line that does not give their results.
    pub(super) total: Option<u64>,
    /// Individually counted cases; used only if no line gives their number.
    pub(super) cases: Counts,
    /// Individually listed issues; used only if no line gives their number.
    pub(super) issues: u64,
    none: Option<Range<usize>>,
    ran_some: bool,
    strong: [Option<Range<usize>>; 2],
    weak: [Option<Range<usize>>; 2],
    here: Range<usize>,
    /// Context from the latest line for the lines after it.
    pub(super) after: After,
}

/// How the next lines are to be read.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    #[default]
    Nothing,
    /// `Ran 5 tests in 0.1s`: `OK` or `FAILED` follows.
    RanTests,
    /// `# package`: compiler messages follow.
    GoPackage,
    /// `To host`: updated branches follow.
    PushTarget,
}

impl Tally {
    pub(super) fn at(&mut self, range: Range<usize>) {
        self.here = range;
    }

    /// Records a result line that reports a failure.
    pub(super) fn failed(&mut self) -> bool {
        let [_, failed] = &mut self.strong;
        *failed = Some(self.here.clone());
        true
    }

    /// Records a result line that reports success.
    pub(super) fn passed(&mut self) -> bool {
        let [passed, _] = &mut self.strong;
        *passed = Some(self.here.clone());
        true
    }

    /// Whether a result line reported success.
    pub(super) fn has_passed(&self) -> bool {
        let [passed, _] = &self.strong;
        passed.is_some()
    }

    /// Records a failure that a result line may override.
    pub(super) fn broke(&mut self) -> bool {
        let [_, failed] = &mut self.weak;
        failed.get_or_insert_with(|| self.here.clone());
        true
    }

    /// Records a result line that says there was nothing to run.
    pub(super) fn found_none(&mut self) -> bool {
        self.none = Some(self.here.clone());
        true
    }

    /// Records that something ran, so that "nothing to run" elsewhere does not apply to the whole
    /// run.
    pub(super) fn ran_some(&mut self) {
        self.ran_some = true;
    }

    /// Adds the numbers of a line; its failures and errors decide the verdict.
    pub(super) fn counted(&mut self, counts: &Counts) -> bool {
        self.counts.add(counts);
        self.judge(counts)
    }

    /// Like [`Tally::counted`], for a line that repeats the numbers of earlier ones.
    pub(super) fn recounted(&mut self, counts: &Counts) -> bool {
        self.counts.replace(counts);
        self.judge(counts)
    }

    fn judge(&mut self, counts: &Counts) -> bool {
        if counts.failed.unwrap_or(0) > 0 || counts.errors.unwrap_or(0) > 0 {
            self.failed()
        } else if counts.passed.unwrap_or(0) > 0 {
            self.ran_some();
            self.passed()
        } else if counts.skipped.unwrap_or(0) > 0 {
            self.passed()
        } else {
            self.found_none()
        }
    }

    pub(super) fn finish(mut self, kind: ActivityKind) -> RunSummary {
        if self.counts.is_empty() {
            self.counts = self.cases;
        }
        if let Some(total) = self.total
            && self.counts.passed.is_none()
        {
            let others = [self.counts.failed, self.counts.errors, self.counts.skipped];
            let others: u64 = others.into_iter().flatten().sum();
            self.counts.passed = Some(total.saturating_sub(others));
        }
        if self.counts.errors.is_none() && self.issues > 0 {
            self.counts.errors = Some(self.issues);
        }
        let collected_none = kind == ActivityKind::Test
            && self.none.is_some()
            && !self.ran_some
            && self.counts.passed.unwrap_or(0) == 0
            && self.counts.failed.unwrap_or(0) == 0;
        let [passed, failed] = self.strong;
        let [weakly_passed, weakly_failed] = self.weak;
        let (verdict, evidence) = if let Some(range) = failed {
            (Some(OutputVerdict::Failed), range)
        } else if collected_none {
            (None, self.none.unwrap_or_default())
        } else if let Some(range) = passed {
            (Some(OutputVerdict::Passed), range)
        } else if let Some(range) = weakly_failed {
            (Some(OutputVerdict::Failed), range)
        } else if let Some(range) = weakly_passed {
            (Some(OutputVerdict::Passed), range)
        } else {
            (None, 0..0)
        };
        let Counts { passed, failed, errors, skipped, warnings } = self.counts;
        RunSummary { passed, failed, errors, skipped, warnings, collected_none, verdict, evidence }
    }
}
