use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use counterfoil_ledger::{Draft, Event, Opened};
use counterfoil_model::{Status, Verdict};
use serde::Serialize;
use serde_json::Value;

/// The code for a call to a tool that does not exist.
const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";

/// The rule about tools that an answer says it used.
const CLAIMED_TOOL: &str = "FK014";

/// Statistics about the calls in a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CallStats {
    /// The number of calls, including rejected ones.
    pub calls: u64,
    /// Calls by how they ended: `completed`, `failed`, `denied`, `refused`, `open`, …
    pub by_status: BTreeMap<&'static str, u64>,
    /// Calls by tool, then by how they ended.
    pub by_tool: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Calls by model, then by how they ended; `unknown` if the model is not recorded.
    pub by_model: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Rejected calls by code. A call with two codes counts for both.
    pub by_code: BTreeMap<String, u64>,
    /// Calls of tools that do not exist, by name.
    pub unknown_tools: BTreeMap<String, u64>,
    /// Tools that do not exist and that answers claim to have used, by name.
    pub claimed_tools: BTreeMap<String, u64>,
    /// Results that filters changed, by filter.
    pub filters: BTreeMap<String, u64>,
    /// Bytes of results that filters removed.
    pub bytes_left_out: u64,
    /// Speculative executions. They are not counted as calls.
    pub ran_ahead: u64,
    /// The number of answers that were verified.
    pub answers: u64,
    /// The number of answers with findings.
    pub answers_with_findings: u64,
    /// Findings by rule code.
    pub findings: BTreeMap<String, u64>,
    /// Executions that have not ended yet.
    #[serde(skip)]
    open: BTreeMap<String, (String, String)>,
    /// The model of each session whose beginning names one.
    #[serde(skip)]
    models: BTreeMap<String, String>,
}

/// A tool that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HallucinatedTool {
    /// Its name.
    pub tool: String,
    /// The number of calls of it.
    pub calls: u64,
    /// The number of times that answers claim to have used it.
    pub claims: u64,
}

impl CallStats {
    /// Counts one event. The events of one execution must be added in their order.
    pub fn add(&mut self, event: &Event) {
        match &event.draft {
            Draft::Began { model: Some(model), .. } => {
                self.models.insert(event.session.clone(), model.clone());
            }
            Draft::Opened(opened) if opened.links.speculative => self.ran_ahead += 1,
            Draft::Opened(opened) => {
                let (tool, model) = self.names(&event.session, opened);
                self.calls += 1;
                self.count(&tool, &model, Status::Open);
                self.open.insert(opened.execution_id.clone(), (tool, model));
            }
            Draft::Closed(closed) => {
                // An opening event that retention dropped was not counted.
                let Some((tool, model)) = self.open.remove(&closed.execution_id) else { return };
                self.uncount(&tool, &model, Status::Open);
                self.count(&tool, &model, closed.status);
            }
            Draft::Rejected(rejected) => {
                let (tool, model) = self.names(&event.session, &rejected.call);
                self.calls += 1;
                self.count(&tool, &model, rejected.status);
                for code in &rejected.codes {
                    *self.by_code.entry(code.clone()).or_default() += 1;
                }
                if rejected.codes.iter().any(|code| code == UNKNOWN_TOOL) {
                    *self.unknown_tools.entry(tool).or_default() += 1;
                }
            }
            Draft::Judged { findings, .. } => {
                let found = findings.as_array().map(Vec::as_slice).unwrap_or_default();
                self.answers += 1;
                self.answers_with_findings += u64::from(!found.is_empty());
                for code in found.iter().filter_map(|finding| finding.get("code")?.as_str()) {
                    *self.findings.entry(code.to_owned()).or_default() += 1;
                }
                for tool in found.iter().filter_map(invented) {
                    *self.claimed_tools.entry(tool.to_owned()).or_default() += 1;
                }
            }
            Draft::Shown { filters, recorded_bytes, shown_bytes, .. } => {
                for filter in filters {
                    *self.filters.entry(filter.clone()).or_default() += 1;
                }
                self.bytes_left_out += recorded_bytes.saturating_sub(*shown_bytes);
            }
            Draft::Began { .. }
            | Draft::Said(_)
            | Draft::Approved(_)
            | Draft::Declined(_)
            | Draft::Cleared
            | Draft::Ended => {}
        }
    }

    /// The tools that do not exist and were called or claimed anyway, most frequent first.
    #[must_use]
    pub fn most_hallucinated(&self) -> Vec<HallucinatedTool> {
        let names: BTreeSet<&String> =
            self.unknown_tools.keys().chain(self.claimed_tools.keys()).collect();
        let count = |counts: &BTreeMap<String, u64>, tool| counts.get(tool).copied().unwrap_or(0);
        let mut tools: Vec<HallucinatedTool> = names
            .into_iter()
            .map(|tool| HallucinatedTool {
                tool: tool.clone(),
                calls: count(&self.unknown_tools, tool),
                claims: count(&self.claimed_tools, tool),
            })
            .collect();
        tools.sort_by_key(|tool| Reverse(tool.calls + tool.claims));
        tools
    }

    fn count(&mut self, tool: &str, model: &str, status: Status) {
        for counts in self.counts(tool, model) {
            *counts.entry(status.name()).or_default() += 1;
        }
    }

    fn uncount(&mut self, tool: &str, model: &str, status: Status) {
        for counts in self.counts(tool, model) {
            if let Some(count) = counts.get_mut(status.name()) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(status.name());
                }
            }
        }
    }

    /// The names of the called tool and of the model: that of the call, or else of the session, if its
    /// main agent made the call.
    fn names(&self, session: &str, call: &Opened) -> (String, String) {
        let of_session = || self.models.get(session).filter(|_| call.caller_id.is_none());
        let model = call.model.as_ref().or_else(of_session);
        (call.tool.clone(), model.map_or_else(|| "unknown".to_owned(), String::clone))
    }

    fn counts(&mut self, tool: &str, model: &str) -> [&mut BTreeMap<&'static str, u64>; 3] {
        [
            &mut self.by_status,
            self.by_tool.entry(tool.to_owned()).or_default(),
            self.by_model.entry(model.to_owned()).or_default(),
        ]
    }
}

/// The tool that does not exist and that an answer claims to have used, according to a finding. A
/// tool that exists and was not called is not contradicted, only unsupported.
fn invented(finding: &Value) -> Option<&str> {
    let has = |member: &str, text: &str| finding.get(member).is_some_and(|value| value == text);
    let invented = has("code", CLAIMED_TOOL) && has("verdict", Verdict::Contradicted.name());
    finding.get("tool").filter(|_| invented)?.as_str()
}
