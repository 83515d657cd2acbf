//! Selects what is shown of a record that exceeds the budget.

use std::collections::BTreeMap;
use std::ops::Range;

use counterfoil_record::{CallStatus, Chunk, Facts, Line, LineKind, terms};

use super::relevance::Relevance;
use super::{CaseLine, Need};

/// The excerpts of a record.
pub(super) struct Excerpts<'r> {
    pub(super) lines: Vec<CaseLine<'r>>,
    /// Summaries of calls that have no line of their own, each with the number of lines before it.
    pub(super) groups: Vec<(usize, String)>,
    pub(super) omitted_lines: usize,
    pub(super) omitted_bytes: usize,
    pub(super) bytes_read: usize,
}

/// Bytes taken by a line's label and its omission marks.
const OVERHEAD: usize = 24;
/// Bytes shown of each call at least.
const CALL_HEAD: usize = 96;
/// Bytes taken by a group of calls.
const GROUP: usize = 72;
/// Target size of a piece of a chunk, which is kept or left out as a whole.
const PIECE: usize = 200;
/// Maximum bytes of one line, unless the judge asked for it.
const LONGEST_LINE: usize = 6_000;

impl<'r> Excerpts<'r> {
    pub(super) fn new(facts: Facts<'r>, answer: &str, need: &[Need], budget: usize) -> Self {
        let total: usize = facts.lines().iter().map(|line| line.text.len() + OVERHEAD).sum();
        let breaks = || facts.lines().iter().map(|line| indents(&line.text)).sum::<usize>();
        if total <= budget && total + breaks() <= budget {
            let whole = |line: &'r Line<'r>| {
                let ranges = std::slice::from_ref(&(0..line.text.len())).to_vec();
                shown(facts, line, &ranges)
            };
            let lines = facts.lines().iter().map(whole).collect();
            let (groups, bytes_read) = (Vec::new(), total);
            return Self { lines, groups, omitted_lines: 0, omitted_bytes: 0, bytes_read };
        }
        let mut choice = Choice::new(facts, answer, need, budget);
        choice.keep_calls();
        choice.keep_heads();
        choice.keep_best();
        choice.finish()
    }
}

/// Selects what is kept of each line.
struct Choice<'r, 'n> {
    facts: Facts<'r>,
    need: &'n [Need],
    relevance: Relevance,
    /// Scores by position of the line.
    line_scores: Vec<u32>,
    kept: BTreeMap<usize, Vec<Range<usize>>>,
    sizes: BTreeMap<usize, usize>,
    left: usize,
    bytes_read: usize,
}

impl<'r, 'n> Choice<'r, 'n> {
    fn new(facts: Facts<'r>, answer: &str, need: &'n [Need], budget: usize) -> Self {
        let relevance = Relevance::new(facts, answer, need);
        let line_scores = relevance.of_lines(facts);
        Self {
            facts,
            need,
            relevance,
            line_scores,
            kept: BTreeMap::new(),
            sizes: BTreeMap::new(),
            left: budget,
            bytes_read: 0,
        }
    }

    /// Gives every call a line. If that takes more than half of the budget, only the most relevant
    /// calls get one, and the others are summarised in groups.
    fn keep_calls(&mut self) {
        let lines = self.facts.lines();
        let calls = lines.iter().enumerate().filter(|(_, l)| l.label.kind == LineKind::Call);
        let mut calls: Vec<usize> = calls.map(|(at, _)| at).collect();
        let most = self.left / 2;
        let size =
            |at: &usize| lines.get(*at).map_or(0, |line| line.text.len().min(CALL_HEAD) + OVERHEAD);
        if calls.iter().map(size).sum::<usize>() > most {
            let score = |at: &usize| {
                // A call is as relevant as its result.
                let own = self.line_scores.get(*at).copied().unwrap_or(0);
                own.max(self.score_of_result(*at))
            };
            calls.sort_by_key(|at| (std::cmp::Reverse(score(at)), std::cmp::Reverse(*at)));
            calls.truncate(most / (CALL_HEAD + OVERHEAD + GROUP));
            // There can be one more group than calls.
            self.left = self.left.saturating_sub((calls.len() + 1) * GROUP);
        }
        for at in calls {
            self.keep_head(at, CALL_HEAD);
        }
    }

    fn score_of_result(&self, call: usize) -> u32 {
        let label = self.facts.lines().get(call).map(|line| line.label);
        let result =
            label.map(|label| counterfoil_record::Label { kind: LineKind::Result, ..label });
        let at = result.and_then(|label| self.facts.line(label)).map(|(at, _)| at);
        at.and_then(|at| self.line_scores.get(at)).copied().unwrap_or(0)
    }

    /// Keeps the beginning of the user's latest messages.
    fn keep_heads(&mut self) {
        const MOST: usize = 12;
        let lines = self.facts.lines();
        let users = lines.iter().enumerate().filter(|(_, l)| l.label.kind == LineKind::User);
        let users: Vec<usize> = users.map(|(at, _)| at).collect();
        for at in users.iter().rev().take(MOST) {
            self.keep_head(*at, PIECE);
        }
    }

    fn keep_head(&mut self, at: usize, most: usize) {
        let Some(line) = self.facts.lines().get(at) else { return };
        let end = line.text.floor_char_boundary(most.min(line.text.len()));
        self.keep(at, 0..end);
    }

    /// Keeps a part of a line if there is room; returns whether there was.
    fn keep(&mut self, at: usize, range: Range<usize>) -> bool {
        let new = if self.kept.contains_key(&at) { 8 } else { OVERHEAD };
        let text = self.facts.lines().get(at).and_then(|line| line.text.get(range.clone()));
        let cost = range.len() + new + text.map_or(0, indents);
        if cost > self.left {
            return false;
        }
        self.left -= cost;
        self.bytes_read += range.len();
        *self.sizes.entry(at).or_default() += range.len();
        self.kept.entry(at).or_default().push(range);
        true
    }

    /// Spends the remaining budget on the most relevant chunks.
    fn keep_best(&mut self) {
        let scores = self.relevance.scores.iter().enumerate().filter(|(_, score)| **score > 0);
        let mut ranked: Vec<(u32, usize)> = scores.map(|(at, score)| (*score, at)).collect();
        ranked.sort_unstable_by_key(|(score, at)| std::cmp::Reverse((*score, *at)));
        let mut full = 0;
        for (_, at) in ranked {
            if full >= 8 || self.left < OVERHEAD + PIECE / 2 {
                break;
            }
            let Some(chunk) = self.facts.chunks().get(at).copied() else { continue };
            full += usize::from(!self.keep_chunk(chunk));
        }
    }

    fn keep_chunk(&mut self, chunk: Chunk) -> bool {
        let Some(line) = self.facts.lines().get(chunk.line) else { return true };
        let needed = self.need.iter().any(|need| need.has(line.label));
        let size = self.sizes.get(&chunk.line).copied().unwrap_or(0);
        if size > LONGEST_LINE && !needed {
            return true;
        }
        let short = chunk.end - chunk.start <= 2 * PIECE;
        if needed || short {
            return self.keep(chunk.line, chunk.start..chunk.end);
        }
        self.bytes_read += chunk.end - chunk.start;
        let mut pieces = pieces(&line.text, chunk, |piece| self.is_telling(piece));
        if pieces.is_empty() {
            // The chunk was selected for its position, so keep its end or its beginning.
            let last = chunk.end == line.text.len() && chunk.start > 0;
            let from = line.text.ceil_char_boundary(chunk.end.saturating_sub(2 * PIECE));
            let until = line.text.floor_char_boundary((chunk.start + 2 * PIECE).min(chunk.end));
            pieces.push(if last { from.max(chunk.start)..chunk.end } else { chunk.start..until });
        }
        pieces.into_iter().all(|piece| self.keep(chunk.line, piece))
    }

    fn is_telling(&self, piece: &str) -> bool {
        let mut found = false;
        terms(piece, |term| found |= self.relevance.telling.contains(&term));
        found
    }

    fn finish(self) -> Excerpts<'r> {
        let lines = self.facts.lines();
        let (mut shown_lines, mut groups) = (Vec::new(), Vec::new());
        let (mut omitted_lines, mut omitted_bytes) = (0, 0);
        let mut group: Vec<&Line<'_>> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            match self.kept.get(&at) {
                Some(ranges) => {
                    close(&mut group, shown_lines.len(), &mut groups);
                    let shown = shown(self.facts, line, ranges);
                    omitted_bytes += line.text.len().saturating_sub(shown.shown.len());
                    omitted_lines += usize::from(shown.cut);
                    shown_lines.push(shown);
                }
                None => {
                    (omitted_lines, omitted_bytes) =
                        (omitted_lines + 1, omitted_bytes + line.text.len());
                    group.extend(Some(line).filter(|line| line.label.kind == LineKind::Call));
                }
            }
        }
        close(&mut group, shown_lines.len(), &mut groups);
        let bytes_read = self.bytes_read;
        Excerpts { lines: shown_lines, groups, omitted_lines, omitted_bytes, bytes_read }
    }
}

/// Closes a group of calls without lines: `[…] C14 to C20, 7 calls: Read ×5, Bash ×2`.
fn close(group: &mut Vec<&Line<'_>>, at: usize, groups: &mut Vec<(usize, String)>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let range = match group.len() {
        1 => first.label.to_string(),
        count => format!("{} to {}, {count} calls", first.label, last.label),
    };
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for line in group.iter() {
        *tools.entry(line.text.split(' ').next().unwrap_or_default()).or_default() += 1;
    }
    let mut tools: Vec<_> = tools.into_iter().collect();
    tools.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let named = tools.iter().take(2).map(|(name, count)| {
        let end = name.floor_char_boundary(20.min(name.len()));
        format!("{} ×{count}", name.get(..end).unwrap_or_default())
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if tools.len() > 2 { ", …" } else { "" };
    let text = format!("[…] {range}: {named}{more}");
    groups.push((at, text));
    group.clear();
}

/// Bytes that indenting the lines of a text takes.
fn indents(text: &str) -> usize {
    2 * text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The wanted pieces of a chunk; adjacent pieces are joined.
fn pieces(text: &str, chunk: Chunk, wanted: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = chunk.start;
    while start < chunk.end {
        let limit = text.floor_char_boundary((start + PIECE).min(chunk.end));
        let piece = text.get(start..limit).unwrap_or_default();
        let breaks = |mark: char| piece.rfind(mark).filter(|at| *at > PIECE / 2).map(|at| at + 1);
        let cut = if limit == chunk.end {
            None
        } else {
            breaks('\n').or_else(|| breaks(' ')).or_else(|| breaks(','))
        };
        let end = cut.map_or(limit, |cut| start + cut).max(start + 1);
        if wanted(text.get(start..end).unwrap_or_default()) {
            match found.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => found.push(start..end),
            }
        }
        start = end;
    }
    found
}

fn shown<'r>(facts: Facts<'r>, line: &'r Line<'r>, ranges: &[Range<usize>]) -> CaseLine<'r> {
    let mut ranges = ranges.to_vec();
    ranges.sort_by_key(|range| range.start);
    let mut text = String::new();
    let (mut until, mut cut) = (0, false);
    for range in &ranges {
        if range.start > until {
            text.push_str(if until == 0 { "[…] " } else { " […] " });
            cut = true;
        }
        text.push_str(line.text.get(range.start.max(until)..range.end).unwrap_or_default());
        until = until.max(range.end);
    }
    if until < line.text.len() {
        text.push_str(" […]");
        cut = true;
    }
    CaseLine { line, status: status_of(facts, line), shown: text, cut }
}

fn status_of(facts: Facts<'_>, line: &Line<'_>) -> Option<CallStatus> {
    let call = matches!(line.label.kind, LineKind::Call | LineKind::Result);
    facts.call(line.label.number).filter(|_| call).map(|call| facts.status(call))
}
