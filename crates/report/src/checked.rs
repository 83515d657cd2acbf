use std::collections::BTreeMap;

use counterfoil_model::{ClauseReading, Finding, Judgement, Problem, Transcript, Verdict};
use serde::Serialize;

/// One transcript and what was found in it.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    /// The file as the user named it, or `-` for standard input.
    pub path: &'a str,
    /// The transcript. Spans of findings index the text of its messages.
    pub transcript: &'a Transcript,
    /// The findings to show, in order.
    pub findings: &'a [Finding],
    /// The findings that an earlier report has, too; `None` if the run is no comparison.
    pub unchanged: Option<&'a [Finding]>,
    /// Every claim that was judged, in order.
    pub judgements: &'a [Judgement],
    /// How each clause of the agent's text was read, in order; empty unless requested.
    pub readings: &'a [ClauseReading],
    /// The claims by verdict.
    pub claims: Claims,
    /// Findings that are not shown because they were accepted or in an earlier report.
    pub known: usize,
    /// Those of them that were accepted.
    pub accepted: &'a [Accepted],
}

impl Checked<'_> {
    /// The file, and the transcript's id unless the path contains it.
    pub(crate) fn name(&self) -> String {
        let id = &self.transcript.id;
        if self.path.contains(id.as_str()) {
            self.path.to_owned()
        } else {
            format!("{} ({id})", self.path)
        }
    }
}

/// A finding that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The finding.
    pub finding: Finding,
    /// Why it was accepted, if a reason was given.
    pub reason: Option<String>,
}

/// Something that could not be read.
#[derive(Debug, Clone, Copy)]
pub struct Unread<'a> {
    /// The file as the user named it.
    pub path: &'a str,
    /// What is wrong, where, and what to do.
    pub problems: &'a [Problem],
    /// Whether the file could not be read, or not to its end.
    pub fatal: bool,
}

/// The number of claims, by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Claims {
    /// Supported by the record.
    pub supported: usize,
    /// Contradicted by the record.
    pub contradicted: usize,
    /// Not found in the record.
    pub unsupported: usize,
    /// The record cannot decide them.
    pub not_checkable: usize,
    /// Read by a judge, which did not object.
    pub read: usize,
    /// Judged neither by a rule nor by a judge.
    pub not_judged: usize,
}

impl Claims {
    /// Creates the counts from a map of verdict names to numbers.
    #[must_use]
    pub fn from_counts(counts: &BTreeMap<&'static str, usize>) -> Self {
        let mut claims = Self::default();
        for verdict in
            [Verdict::Supported, Verdict::Contradicted, Verdict::Unsupported, Verdict::NotCheckable]
        {
            claims.add(verdict, counts.get(verdict.name()).copied().unwrap_or(0));
        }
        claims.read = counts.get("read").copied().unwrap_or(0);
        claims.not_judged = counts.get("not judged").copied().unwrap_or(0);
        claims
    }

    /// Counts `count` claims with this verdict.
    pub fn add(&mut self, verdict: Verdict, count: usize) {
        *match verdict {
            Verdict::Supported => &mut self.supported,
            Verdict::Contradicted => &mut self.contradicted,
            Verdict::Unsupported => &mut self.unsupported,
            Verdict::NotCheckable => &mut self.not_checkable,
        } += count;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        self.supported += other.supported;
        self.contradicted += other.contradicted;
        self.unsupported += other.unsupported;
        self.not_checkable += other.not_checkable;
        self.read += other.read;
        self.not_judged += other.not_judged;
    }

    /// The number of all claims.
    #[must_use]
    pub fn total(&self) -> usize {
        let judged = self.supported + self.contradicted + self.unsupported + self.read;
        judged + self.not_checkable + self.not_judged
    }

    /// The share of claims that were judged, from 0 to 1, rounded down to three decimal places;
    /// `None` without claims.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        let total = self.total();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let share = (total - self.not_checkable - self.not_judged) as f64 / total as f64;
        (total > 0).then(|| (share * 1000.0).floor() / 1000.0)
    }
}
