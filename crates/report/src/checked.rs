use std::collections::BTreeMap;

use counterfoil_model::{ClauseReading, Finding, Judgement, Problem, Transcript, Verdict};
use serde::Serialize;

/// One transcript with what was found in it.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    /// The file as the user named it; `-` for standard input.
    pub path: &'a str,
    /// The transcript. Spans of findings index the text of its messages.
    pub transcript: &'a Transcript,
    /// What is shown, in order.
    pub findings: &'a [Finding],
    /// Every claim that was decided, in order.
    pub judgements: &'a [Judgement],
    /// How every clause of what the agent said was read, in order; empty where nobody asks.
    pub readings: &'a [ClauseReading],
    /// The claims by verdict.
    pub claims: Claims,
}

/// Something that could not be read.
#[derive(Debug, Clone, Copy)]
pub struct Unread<'a> {
    /// The file as the user named it.
    pub path: &'a str,
    /// What is wrong, where, and what to do.
    pub problems: &'a [Problem],
    /// Nothing of the file could be read, and somebody asked for exactly this file.
    pub fatal: bool,
}

/// How many claims there were, by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Claims {
    /// The record shows them.
    pub supported: usize,
    /// The record shows the opposite.
    pub contradicted: usize,
    /// The record does not show them.
    pub unsupported: usize,
    /// The record cannot show them either way.
    pub not_checkable: usize,
    /// A judge read them without objection.
    pub read: usize,
    /// Nobody judged them: no rule understands them, and no judge read them.
    pub not_judged: usize,
}

impl Claims {
    /// Claims that are counted by the name of their verdict.
    #[must_use]
    pub fn of(counts: &BTreeMap<&'static str, usize>) -> Self {
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

    /// Counts `count` claims of one verdict.
    pub fn add(&mut self, verdict: Verdict, count: usize) {
        *match verdict {
            Verdict::Supported => &mut self.supported,
            Verdict::Contradicted => &mut self.contradicted,
            Verdict::Unsupported => &mut self.unsupported,
            Verdict::NotCheckable => &mut self.not_checkable,
        } += count;
    }

    /// Adds other claims.
    pub fn merge(&mut self, other: Self) {
        self.supported += other.supported;
        self.contradicted += other.contradicted;
        self.unsupported += other.unsupported;
        self.not_checkable += other.not_checkable;
        self.read += other.read;
        self.not_judged += other.not_judged;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> usize {
        let judged = self.supported + self.contradicted + self.unsupported + self.read;
        judged + self.not_checkable + self.not_judged
    }

    /// The share of claims that were judged, from 0 to 1, to three places; `None` when there
    /// were no claims.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        let total = self.total();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let share = (total - self.not_checkable - self.not_judged) as f64 / total as f64;
        (total > 0).then(|| (share * 1000.0).floor() / 1000.0)
    }
}
