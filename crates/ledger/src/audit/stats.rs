use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::AuditResult;
use super::line::AuditLine;

/// What lines add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditStats {
    /// Lines of calls that were made.
    pub calls: u64,
    /// Lines of calls that ran before it was known that they are wanted. None of them is one of the
    /// calls.
    pub ran_ahead: u64,
    /// Calls that were not let through.
    pub rejected: u64,
    /// Calls that failed, the rejected among them.
    pub failed: u64,
    /// Calls that could not be written down.
    pub missed: u64,
    /// Milliseconds since the Unix epoch: the earliest line.
    pub first: Option<i64>,
    /// The latest line.
    pub last: Option<i64>,
    /// By tool: how its calls ended.
    pub by_tool: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// By result.
    pub by_result: BTreeMap<&'static str, u64>,
    /// By category of failure.
    pub by_category: BTreeMap<&'static str, u64>,
    /// By hour, as `2026-11-02T13Z`.
    pub by_hour: BTreeMap<String, u64>,
}

/// Tools that are counted by name; the calls of others are counted as [`AuditStats::OTHERS`], so
/// that invented names cannot fill the memory.
const MOST_TOOLS: usize = 10_000;

impl AuditStats {
    /// Stands for tools beyond the most that are counted by name.
    pub const OTHERS: &str = "(others)";

    /// Counts one line.
    pub fn add(&mut self, line: &AuditLine) {
        let result = &line.entry.result;
        self.missed += line.missed;
        if line.entry.speculative {
            self.ran_ahead += 1;
            return;
        }
        self.calls += 1;
        self.rejected += u64::from(matches!(result, AuditResult::Blocked { .. }));
        self.failed += u64::from(result.category().is_some());
        self.first = Some(self.first.map_or(line.at, |first| first.min(line.at)));
        self.last = Some(self.last.map_or(line.at, |last| last.max(line.at)));
        let known = self.by_tool.contains_key(&line.entry.tool) || self.by_tool.len() < MOST_TOOLS;
        let tool = if known { line.entry.tool.as_str() } else { Self::OTHERS };
        let results = self.by_tool.entry(tool.to_owned()).or_default();
        *results.entry(result.word()).or_default() += 1;
        *self.by_result.entry(result.word()).or_default() += 1;
        if let Some(category) = result.category() {
            *self.by_category.entry(category.name()).or_default() += 1;
        }
        if let Ok(at) = jiff::Timestamp::from_millisecond(line.at) {
            *self.by_hour.entry(at.strftime("%Y-%m-%dT%HZ").to_string()).or_default() += 1;
        }
    }
}
