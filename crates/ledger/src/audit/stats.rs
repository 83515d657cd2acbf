use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::AuditResult;
use super::line::AuditLine;

/// Counts over lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditStats {
    /// Calls, without those that ran ahead.
    pub calls: u64,
    /// Calls that ran before they were known to be wanted. Not included in `calls`.
    pub ran_ahead: u64,
    /// Calls that were not allowed to run.
    pub rejected: u64,
    /// Failed calls, including the rejected ones.
    pub failed: u64,
    /// Calls that could not be written to the log.
    pub missed: u64,
    /// The time of the earliest line, in milliseconds since the Unix epoch.
    pub first: Option<i64>,
    /// The time of the latest line.
    pub last: Option<i64>,
    /// Counts of results by tool.
    pub by_tool: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Counts by result.
    pub by_result: BTreeMap<&'static str, u64>,
    /// Counts by category of failure.
    pub by_category: BTreeMap<&'static str, u64>,
    /// Counts by hour, as `2026-11-02T13Z`.
    pub by_hour: BTreeMap<String, u64>,
}

/// The maximum number of tools counted by name. Calls of further tools are counted as
/// [`AuditStats::OTHERS`], so that invented names cannot exhaust memory.
const MOST_TOOLS: usize = 10_000;

impl AuditStats {
    /// The key for all tools beyond the maximum.
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
