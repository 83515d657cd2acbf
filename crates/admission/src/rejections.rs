use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use counterfoil_model::{Arguments, Code, ExactValue};
use serde::Serialize;

use crate::issue::{code, shortened};
use crate::report::CallReport;

/// Number of entries at which the oldest are dropped.
const MOST: usize = 1_000;
/// Number of entries kept when that happens.
const NEWEST: usize = 500;
/// Number of distinct names that are counted separately; a hostile model can invent any number of
/// them.
const NAMES: usize = 10_000;
/// The name under which all others are counted.
const OTHERS: &str = "(others)";

/// The rejected calls of a process, newest last. The counters include calls whose entries were
/// dropped.
#[derive(Debug, Default)]
pub struct RejectionLog {
    entries: VecDeque<Rejection>,
    counts: RejectionCounts,
}

/// One rejected call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// Milliseconds since the Unix epoch.
    pub time: i64,
    /// The tool's name as emitted.
    pub tool: String,
    /// The name and redacted value of each argument, at most 100 characters each. Arguments that
    /// are not a JSON object are listed under the empty name.
    pub arguments: Vec<(String, String)>,
    /// The model's name, or `unknown`.
    pub model: String,
    /// The codes of the issues, in order.
    pub codes: Vec<Code>,
}

/// Numbers of rejected calls since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RejectionCounts {
    /// All rejected calls.
    pub total: u64,
    /// By code; a call with two codes counts for both.
    pub by_code: BTreeMap<String, u64>,
    /// By the tool's name as emitted.
    pub by_tool: BTreeMap<String, u64>,
    /// By model.
    pub by_model: BTreeMap<String, u64>,
    /// Calls of tools that do not exist, by name.
    pub unknown_tools: BTreeMap<String, u64>,
}

impl RejectionLog {
    /// Records a rejected call. A report without a blocking issue is ignored.
    ///
    /// `redact` receives each value before it is shortened, so that no part of a secret remains.
    pub fn record(
        &mut self,
        time: i64,
        model: Option<&str>,
        arguments: &Arguments,
        report: &CallReport,
        redact: &dyn Fn(&str) -> String,
    ) {
        let mut codes: Vec<Code> = Vec::new();
        for issue in report.blocking() {
            if !codes.contains(&issue.code) {
                codes.push(issue.code);
            }
        }
        if codes.is_empty() {
            return;
        }
        let model = model.unwrap_or("unknown");
        self.counts.count(&report.tool, model, &codes);
        self.entries.push_back(Rejection {
            time,
            tool: shortened(&report.tool, 100),
            arguments: excerpts(arguments, report.arguments.as_ref(), redact),
            model: model.to_owned(),
            codes,
        });
        if self.entries.len() > MOST {
            self.entries.drain(..self.entries.len() - NEWEST);
        }
    }

    /// The latest rejected calls, oldest first; at most 1,000.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Rejection> {
        self.entries.iter()
    }

    /// The counters.
    #[must_use]
    pub fn counts(&self) -> &RejectionCounts {
        &self.counts
    }
}

impl RejectionCounts {
    /// Called tools that do not exist, most frequent first.
    #[must_use]
    pub fn most_hallucinated(&self) -> Vec<(&str, u64)> {
        let mut tools: Vec<_> = self.unknown_tools.iter().map(|(t, n)| (t.as_str(), *n)).collect();
        tools.sort_by_key(|(_, count)| Reverse(*count));
        tools
    }

    fn count(&mut self, tool: &str, model: &str, codes: &[Code]) {
        self.total += 1;
        bump(&mut self.by_tool, tool);
        bump(&mut self.by_model, model);
        for code in codes {
            bump(&mut self.by_code, code.0);
        }
        if codes.contains(&code::UNKNOWN_TOOL) {
            bump(&mut self.unknown_tools, tool);
        }
    }
}

fn bump(counts: &mut BTreeMap<String, u64>, name: &str) {
    let name = shortened(name, 100);
    let full = counts.len() >= NAMES && !counts.contains_key(&name);
    *counts.entry(if full { OTHERS.to_owned() } else { name }).or_default() += 1;
}

fn excerpts(
    raw: &Arguments,
    parsed: Option<&ExactValue>,
    redact: &dyn Fn(&str) -> String,
) -> Vec<(String, String)> {
    let cut = |text: &str| shortened(&redact(text), 100);
    let parse;
    let parsed = match parsed {
        Some(value) => Some(value),
        None => {
            parse = raw.exact().ok();
            parse.as_ref()
        }
    };
    match parsed.and_then(|parsed| Some((parsed, parsed.as_object()?))) {
        None => vec![(String::new(), cut(raw.as_str()))],
        Some((parsed, members)) => members
            .iter()
            .map(|(name, value)| {
                let text = value.as_str().map(str::to_owned);
                let shown = text
                    .or_else(|| parsed.member(name).map(|member| member.to_string()))
                    .unwrap_or_default();
                (shortened(name, 100), cut(&shown))
            })
            .collect(),
    }
}
