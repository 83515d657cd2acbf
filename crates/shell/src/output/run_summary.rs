use std::ops::Range;

/// What the output of a run shows, regardless of its exit status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Tests that passed.
    pub passed: Option<u64>,
    /// Tests that failed.
    pub failed: Option<u64>,
    /// Errors from compilers, linters and test collection, and tests that could not run.
    pub errors: Option<u64>,
    /// Tests that were skipped, ignored or are pending.
    pub skipped: Option<u64>,
    /// Warnings.
    pub warnings: Option<u64>,
    /// Whether the runner says that it found no tests.
    pub collected_none: bool,
    /// The verdict, if the output contains one. Any failure line makes it a failure.
    pub verdict: Option<OutputVerdict>,
    /// The byte range of the decisive line; empty if there is none.
    pub evidence: Range<usize>,
}

/// The result of a run according to its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputVerdict {
    /// A result line reports success.
    Passed,
    /// A result line reports a failure.
    Failed,
}
