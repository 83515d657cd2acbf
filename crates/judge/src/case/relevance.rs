//! Scores how relevant each chunk of the record is to the answer.

use std::collections::{BTreeMap, HashSet};

use counterfoil_record::{CallStatus, CheckKind, Facts, Label, LineKind, terms, values};

use super::Need;

/// The relevance of each chunk to the answer.
#[derive(Debug)]
pub(super) struct Relevance {
    /// Scores by position of the chunk.
    pub(super) scores: Vec<u32>,
    /// Terms of the answer that occur in few chunks.
    pub(super) telling: HashSet<u64>,
}

/// A term in more chunks than this is ignored.
const COMMON: usize = 512;
/// Maximum number of terms and values of an answer that are looked up.
const MOST_TERMS: usize = 2_000;

const SAME_VALUE: u32 = 24;
const FAILED: u32 = 15;
const LAST_RUN: u32 = 60;
const LAST_REQUEST: u32 = 60;
const FIRST_REQUEST: u32 = 30;
const NEAR_THE_END: u32 = 20;
const NEEDED: u32 = 1_000_000;

impl Relevance {
    pub(super) fn new(facts: Facts<'_>, answer: &str, need: &[Need]) -> Self {
        let chunks = facts.chunks();
        let mut found = Self { scores: vec![0; chunks.len()], telling: HashSet::new() };
        found.by_terms(facts, answer);
        found.by_values(facts, answer);
        found.by_place(facts);
        for (score, chunk) in found.scores.iter_mut().zip(chunks) {
            let label = facts.lines().get(chunk.line).map(|line| line.label);
            if label.is_some_and(|label| need.iter().any(|need| need.has(label))) {
                *score += NEEDED;
            }
        }
        found
    }

    /// The score of each line, which is that of its best chunk.
    pub(super) fn of_lines(&self, facts: Facts<'_>) -> Vec<u32> {
        let mut lines = vec![0; facts.lines().len()];
        for (score, chunk) in self.scores.iter().zip(facts.chunks()) {
            if let Some(best) = lines.get_mut(chunk.line) {
                *best = (*best).max(*score);
            }
        }
        lines
    }

    fn by_terms(&mut self, facts: Facts<'_>, answer: &str) {
        let mut wanted = Vec::new();
        terms(answer, |term| {
            if wanted.len() < MOST_TERMS {
                wanted.push(term);
            }
        });
        wanted.sort_unstable();
        wanted.dedup();
        let all = facts.chunks().len();
        for term in wanted {
            let holders = facts.chunks_with(term);
            let count = holders.len();
            if count == 0 || count > COMMON || count > 8.max(all / 4) {
                continue;
            }
            self.telling.insert(term);
            let rarity = 1 + (all / count).max(1).ilog2();
            holders.for_each(|chunk| self.add(chunk, rarity));
        }
    }

    fn by_values(&mut self, facts: Facts<'_>, answer: &str) {
        let chunks = facts.chunks();
        for value in values(answer).iter().take(MOST_TERMS) {
            let places: Vec<_> = facts.places_of(value.kind, &value.key).take(COMMON + 1).collect();
            if places.len() > COMMON {
                continue;
            }
            for (line, place) in places {
                let Some((at, _)) = facts.line(line.label) else { continue };
                let from = (at, place.start);
                let chunk = chunks.partition_point(|c| (c.line, c.end) <= from);
                self.add(chunk, SAME_VALUE);
            }
        }
    }

    /// Scores the lines that matter whatever the answer says.
    fn by_place(&mut self, facts: Facts<'_>) {
        let lines = facts.lines();
        let users = || lines.iter().filter(|line| line.label.kind == LineKind::User);
        if let Some(first) = users().next() {
            self.add_to(facts, first.label, FIRST_REQUEST, FIRST_REQUEST);
        }
        if let Some(last) = users().next_back() {
            self.add_to(facts, last.label, LAST_REQUEST, LAST_REQUEST);
        }
        let result = |number| Label::new(LineKind::Result, number);
        let mut last_runs: BTreeMap<CheckKind, usize> = BTreeMap::new();
        last_runs.extend(facts.checks().iter().map(|check| (check.kind, check.call)));
        for call in last_runs.into_values() {
            self.add_to(facts, Label::new(LineKind::Call, call), LAST_RUN, 0);
            self.add_to(facts, result(call), LAST_RUN / 2, LAST_RUN);
        }
        let count = facts.calls().len();
        for (at, call) in facts.calls().iter().enumerate() {
            if matches!(facts.status(call), CallStatus::Failed | CallStatus::Denied) {
                // Early failures have often been fixed since.
                let late = u32::try_from(at * 2 / count).unwrap_or_default();
                self.add_to(facts, result(call.number), FAILED * (1 + late), FAILED * (1 + late));
            }
            let from_end = u32::try_from(count - at).unwrap_or(u32::MAX);
            if from_end <= NEAR_THE_END {
                let bonus = NEAR_THE_END - from_end + 1;
                self.add_to(facts, result(call.number), bonus, bonus);
            }
        }
    }

    fn add(&mut self, chunk: usize, points: u32) {
        if let Some(score) = self.scores.get_mut(chunk) {
            *score = score.saturating_add(points);
        }
    }

    /// Adds points to the first and the last chunk of a line.
    fn add_to(&mut self, facts: Facts<'_>, label: Label, first: u32, last: u32) {
        let Some((at, _)) = facts.line(label) else { return };
        let chunks = facts.chunks();
        let from = chunks.partition_point(|chunk| chunk.line < at);
        let until = chunks.partition_point(|chunk| chunk.line <= at);
        self.add(from, first);
        if until > from + 1 {
            self.add(until - 1, last);
        }
    }
}
