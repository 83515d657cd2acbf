use std::borrow::Cow;
use std::collections::BTreeMap;

use counterfoil_model::{Catalog, Gap};

use crate::call::Call;
use crate::file::FileChange;
use crate::line::{Chunk, Label, Line};
use crate::list::ListLength;
use crate::record::Record;
use crate::run::{CheckKind, Run, RunEnd, RunKind};
use crate::sheet::{self, FactLine};
use crate::status::CallStatus;
use crate::value::ValueKind;

/// What the record shows before one message. Results that came later are excluded.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'r> {
    record: &'r Record<'r>,
    message: usize,
    calls: usize,
    lines: usize,
    chunks: usize,
}

/// A run of a check, and the changes made after it.
#[derive(Debug, Clone)]
pub struct Check<'r> {
    /// What was checked.
    pub kind: CheckKind,
    /// The number of the call.
    pub call: usize,
    /// The run itself.
    pub run: Cow<'r, Run>,
    /// The latest changes after the run to files that checks cover, each with the number of its
    /// call; newest first, at most [`Check::MOST_CHANGES`].
    pub changed_after: Vec<(usize, &'r FileChange)>,
}

impl Check<'_> {
    /// The maximum number of changes listed.
    pub const MOST_CHANGES: usize = 4;

    /// Whether files covered by the check were changed after it.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        !self.changed_after.is_empty()
    }
}

/// Work delegated to another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation<'r> {
    /// The number of the delegating call.
    pub call: usize,
    /// The tool of that call.
    pub tool: &'r str,
    /// The number of calls the other agent made, if the result says so.
    pub calls: Option<u64>,
}

impl<'r> Facts<'r> {
    pub(crate) fn new(record: &'r Record<'r>, message: usize) -> Self {
        let lines = record.lines.partition_point(|line| line.message < message);
        Self {
            record,
            message,
            calls: record.calls.partition_point(|call| call.called_at < message),
            lines,
            chunks: record.chunks.partition_point(|chunk| chunk.line < lines),
        }
    }

    /// The record these facts are read from.
    #[must_use]
    pub fn record(&self) -> &'r Record<'r> {
        self.record
    }

    /// The message before which these facts are known.
    #[must_use]
    pub fn message(&self) -> usize {
        self.message
    }

    /// The tools that the agent was offered.
    #[must_use]
    pub fn catalog(&self) -> &'r Catalog {
        &self.record.transcript.catalog
    }

    /// The calls, in order.
    #[must_use]
    pub fn calls(&self) -> &'r [Call<'r>] {
        self.record.calls.get(..self.calls).unwrap_or_default()
    }

    /// The call with this number.
    #[must_use]
    pub fn call(&self, number: usize) -> Option<&'r Call<'r>> {
        self.calls().get(number.checked_sub(1)?)
    }

    /// How a call ended.
    #[must_use]
    pub fn status(&self, call: &Call<'_>) -> CallStatus {
        if self.has_result(call) {
            return call.status;
        }
        // If the log does not keep results, a missing result says nothing.
        let lost = |gap: &Gap| matches!(gap, Gap::MissingResults | Gap::LossyFormat | Gap::CutEnd);
        if self.gaps().any(|gap| lost(&gap)) { CallStatus::Unknown } else { CallStatus::Unfinished }
    }

    fn has_result(&self, call: &Call<'_>) -> bool {
        call.answered_at.is_some_and(|at| at < self.message)
    }

    /// The lines, in order.
    #[must_use]
    pub fn lines(&self) -> &'r [Line<'r>] {
        self.record.lines.get(..self.lines).unwrap_or_default()
    }

    /// The line with this label, and its position in [`Facts::lines`].
    #[must_use]
    pub fn line(&self, label: Label) -> Option<(usize, &'r Line<'r>)> {
        let at = self.record.position(label).filter(|at| *at < self.lines)?;
        Some((at, self.record.lines.get(at)?))
    }

    /// The chunks of the lines, in order.
    #[must_use]
    pub fn chunks(&self) -> &'r [Chunk] {
        self.record.chunks.get(..self.chunks).unwrap_or_default()
    }

    /// The positions of the chunks that contain a term, ascending.
    pub fn chunks_with(&self, term: u64) -> impl ExactSizeIterator<Item = usize> + use<'r> {
        let all = self.record.chunks_with(term);
        let count = all.partition_point(|(_, chunk)| (*chunk as usize) < self.chunks);
        all.get(..count).unwrap_or_default().iter().map(|(_, chunk)| *chunk as usize)
    }

    /// The lines that contain exactly this value, with the byte range of each occurrence.
    pub fn places_of(
        &self,
        kind: ValueKind,
        key: &str,
    ) -> impl Iterator<Item = (&'r Line<'r>, std::ops::Range<usize>)> + use<'r> {
        let (record, lines) = (self.record, self.lines);
        let places = record.places_of(kind, key).iter().filter(move |p| (p.line as usize) < lines);
        places.filter_map(move |place| {
            let line = record.lines.get(place.line as usize)?;
            Some((line, place.start as usize..place.end as usize))
        })
    }

    /// Every value of a kind with its line; equal values are adjacent.
    pub fn values_of(
        &self,
        kind: ValueKind,
    ) -> impl Iterator<Item = (&'r Line<'r>, &'r str)> + use<'r> {
        let (record, lines) = (self.record, self.lines);
        let from = record.values.partition_point(|place| place.kind < kind);
        let of_kind = record.values.iter().skip(from).take_while(move |place| place.kind == kind);
        of_kind.filter(move |place| (place.line as usize) < lines).filter_map(move |place| {
            let line = record.lines.get(place.line as usize)?;
            Some((line, line.text.get(place.start as usize..place.end as usize)?))
        })
    }

    /// The reasons why the record may lack calls or results, without duplicates.
    pub fn gaps(&self) -> impl Iterator<Item = Gap> {
        let before =
            self.record.transcript.completeness.gaps().iter().filter(|(_, at)| *at <= self.message);
        let mut gaps: Vec<Gap> = before.map(|(gap, _)| *gap).collect();
        gaps.sort_unstable();
        gaps.dedup();
        gaps.into_iter()
    }

    /// Whether every call of the agent is recorded.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.record.transcript.completeness.is_complete_before(self.message)
    }

    /// The number of calls per tool, the most used first.
    #[must_use]
    pub fn calls_by_tool(&self) -> Vec<(&'r str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for call in self.calls().iter().filter(|call| !call.tool.is_empty()) {
            *counts.entry(call.tool.as_ref()).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        counts
    }

    /// Whether a tool with this name was called.
    #[must_use]
    pub fn has_called(&self, tool: &str) -> bool {
        self.calls().iter().any(|call| call.tool == tool)
    }

    /// All runs, each with the number of its call. A run without a result counts as unfinished.
    pub fn runs(&self) -> impl Iterator<Item = (usize, Cow<'r, Run>)> {
        self.calls().iter().flat_map(|call| {
            let seen = self.has_result(call);
            call.runs.iter().map(move |run| (call.number, as_seen(run, seen)))
        })
    }

    /// The runs of checks, in order.
    #[must_use]
    pub fn checks(&self) -> Vec<Check<'r>> {
        let changes: Vec<(usize, &FileChange)> =
            self.changes().filter(|(_, change)| change.checked).collect();
        let check = |(call, run): (usize, Cow<'r, Run>)| {
            let RunKind::Check(kind) = run.kind else { return None };
            let mut changed_after: Vec<(usize, &FileChange)> = Vec::new();
            let later = changes.iter().rev().take_while(|(at, _)| *at > call);
            for &(at, change) in later.take(32) {
                let known = changed_after.iter().any(|(_, seen)| seen.path == change.path);
                if !known && changed_after.len() < Check::MOST_CHANGES {
                    changed_after.push((at, change));
                }
            }
            Some(Check { kind, call, run, changed_after })
        };
        self.runs().filter_map(check).collect()
    }

    /// Changes to files by completed calls, each with the number of its call.
    pub fn changes(&self) -> impl Iterator<Item = (usize, &'r FileChange)> {
        let done = |call: &&Call<'_>| self.status(call) == CallStatus::Completed;
        let calls = self.calls().iter().filter(done);
        calls.flat_map(|call| call.files.iter().map(|change| (call.number, change)))
    }

    /// The lists in the JSON result of a call.
    #[must_use]
    pub fn lists(&self, number: usize) -> &'r [ListLength] {
        let call = self.call(number).filter(|call| self.has_result(call));
        call.map_or(&[], |call| call.lists.as_slice())
    }

    /// Delegations to other agents.
    pub fn delegations(&self) -> impl Iterator<Item = Delegation<'r>> {
        let calls = self.calls().iter();
        calls.filter(|call| call.delegates || call.subagent_calls.is_some()).map(|call| {
            Delegation {
                call: call.number,
                tool: &call.tool,
                calls: call.subagent_calls.filter(|_| self.has_result(call)),
            }
        })
    }

    /// The calls whose results the log shortened.
    pub fn shortened(&self) -> impl Iterator<Item = usize> {
        let calls = self.calls().iter();
        calls.filter(|call| call.truncated && self.has_result(call)).map(|call| call.number)
    }

    /// Whether command lines were run or files changed, so that checks could have been run.
    #[must_use]
    pub fn is_coding(&self) -> bool {
        self.calls().iter().any(|call| call.shell || !call.files.is_empty())
    }

    /// The facts as short English lines, most important first.
    #[must_use]
    pub fn sheet(&self) -> Vec<FactLine> {
        sheet::lines(self)
    }
}

fn as_seen(run: &Run, seen: bool) -> Cow<'_, Run> {
    if seen {
        return Cow::Borrowed(run);
    }
    let report = crate::run::Report::default();
    let end = RunEnd::Unfinished;
    Cow::Owned(Run { exit: None, report, end, commit: None, ..run.clone() })
}
