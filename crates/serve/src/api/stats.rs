use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::dashboard::Dashboard;
use crate::dashboard::index::{HOUR, List};
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// Number of hours with counts.
const HOURS: usize = 7 * 24;

/// Maximum number of names listed per kind.
const NAMES: usize = 100;

/// Statistics of the ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatsItem {
    /// Number of events counted.
    pub(crate) events: u64,
    /// Number of sessions.
    pub(crate) sessions: usize,
    /// Number of calls, including rejected ones.
    pub(crate) calls: u64,
    /// Number of rejected or denied calls.
    pub(crate) rejected: usize,
    /// Number of calls waiting for approval.
    pub(crate) waiting: usize,
    /// Number of answers checked against the record.
    pub(crate) answers: u64,
    /// Number of answers with findings.
    pub(crate) answers_with_findings: u64,
    /// Number of calls by status.
    pub(crate) by_status: BTreeMap<String, u64>,
    /// Number of calls by tool, for the 100 most frequent.
    pub(crate) by_tool: BTreeMap<String, u64>,
    /// Number of rejected calls by code.
    pub(crate) by_code: BTreeMap<String, u64>,
    /// Number of findings by rule.
    pub(crate) findings: BTreeMap<String, u64>,
    /// Up to 168 recent hours in which something happened.
    pub(crate) hours: Vec<HourItem>,
}

/// Counts for one hour.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct HourItem {
    /// Start of the hour: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// Number of calls, including rejected ones.
    pub(crate) calls: u64,
    /// Number of rejected or denied calls.
    pub(crate) rejected: u64,
    /// Number of executions that ended without success.
    pub(crate) failed: u64,
    /// Number of judged answers.
    pub(crate) answers: u64,
    /// Number of answers with findings.
    pub(crate) answers_with_findings: u64,
}

/// Statistics of the ledger.
pub(crate) fn stats(dashboard: &Dashboard, _: &VisitorRequest) -> Result<StatsItem, HttpProblem> {
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
        waiting: index.waiting_count(dashboard.now()),
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
