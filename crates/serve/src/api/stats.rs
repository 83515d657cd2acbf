use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::dashboard::Dashboard;
use crate::dashboard::index::{HOUR, List};
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::Asked;

/// Hours of which counts are given.
const HOURS: usize = 7 * 24;

/// Names that are given of one kind; there may be more.
const NAMES: usize = 100;

/// What the ledger adds up to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatsItem {
    /// Events that are counted.
    pub(crate) events: u64,
    /// Sessions.
    pub(crate) sessions: usize,
    /// Calls, rejected ones included.
    pub(crate) calls: u64,
    /// Calls that were refused or denied.
    pub(crate) rejected: usize,
    /// Calls that wait for somebody to agree.
    pub(crate) waiting: usize,
    /// Answers that were held against the record.
    pub(crate) answers: u64,
    /// Those in which something was found.
    pub(crate) answers_with_findings: u64,
    /// Calls by how they ended.
    pub(crate) by_status: BTreeMap<String, u64>,
    /// Calls by tool, the most frequent 100.
    pub(crate) by_tool: BTreeMap<String, u64>,
    /// Rejected calls by code.
    pub(crate) by_code: BTreeMap<String, u64>,
    /// Findings by rule.
    pub(crate) findings: BTreeMap<String, u64>,
    /// The hours in which something happened, up to 168 of the last ones.
    pub(crate) hours: Vec<HourItem>,
}

/// What happened in one hour.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct HourItem {
    /// When it began: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// Calls, rejected ones included.
    pub(crate) calls: u64,
    /// Calls that were refused or denied.
    pub(crate) rejected: u64,
    /// Executions that ended without success.
    pub(crate) failed: u64,
    /// Answers that were judged.
    pub(crate) answers: u64,
    /// Those in which something was found.
    pub(crate) answers_with_findings: u64,
}

/// What the ledger adds up to.
pub(crate) fn stats(dashboard: &Dashboard, _: &Asked) -> Result<StatsItem, HttpProblem> {
    let index = dashboard.known();
    let stats = index.stats();
    let by_tool = stats.by_tool.iter().map(|(tool, by)| (tool.as_str(), by.values().sum()));
    let from = index.hours().len().saturating_sub(HOURS);
    let hours = index.hours().iter().skip(from).map(|(hour, counts)| HourItem {
        at: hour.saturating_mul(HOUR),
        calls: counts.calls,
        rejected: counts.rejected,
        failed: counts.failed,
        answers: counts.answers,
        answers_with_findings: counts.answers_with_findings,
    });
    Ok(StatsItem {
        events: index.next(),
        sessions: index.sessions().len(),
        calls: stats.calls,
        rejected: index.count(List::Rejections),
        waiting: index.waiting_count(),
        answers: stats.answers,
        answers_with_findings: stats.answers_with_findings,
        by_status: stats.by_status.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        by_tool: most(by_tool),
        by_code: most(stats.by_code.iter().map(|(code, n)| (code.as_str(), *n))),
        findings: most(stats.findings.iter().map(|(code, n)| (code.as_str(), *n))),
        hours: hours.collect(),
    })
}

/// The most frequent names.
fn most<'n>(all: impl Iterator<Item = (&'n str, u64)>) -> BTreeMap<String, u64> {
    let mut all: Vec<(&str, u64)> = all.collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.into_iter().take(NAMES).map(|(name, count)| (name.to_owned(), count)).collect()
}
