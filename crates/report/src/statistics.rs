use std::collections::BTreeMap;

use counterfoil_model::{Finding, Subject};
use serde::Serialize;

use crate::checked::{Checked, Claims};
use crate::severities::Severities;

/// Counts of findings by rule, model, tool and log format, each with the claims and calls checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// By rule code: the claims that the rule judged.
    pub rules: BTreeMap<&'static str, Tally>,
    /// By the model that wrote the message; `unknown` if the log does not name it.
    pub models: BTreeMap<String, Tally>,
    /// By tool: its calls, the findings about them, and the findings that cite them.
    pub tools: BTreeMap<String, Tally>,
    /// By log format.
    pub forms: BTreeMap<&'static str, Tally>,
}

/// One row of counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tally {
    /// The transcripts in which the item occurs.
    pub transcripts: usize,
    /// Tool calls.
    pub calls: usize,
    /// The claims that were judged, by verdict.
    pub claims: Claims,
    /// Findings, by severity.
    pub findings: Severities,
}

/// The model's name if the log does not give one.
const UNKNOWN: &str = "unknown";

impl Statistics {
    /// Counts one transcript and its findings.
    pub(crate) fn add(&mut self, checked: &Checked<'_>) {
        let mut one = Self::default();
        one.calls(checked);
        one.claims(checked);
        for finding in checked.findings {
            one.finding(checked, finding);
        }
        one.forms.entry(checked.transcript.format.name()).or_default();
        one.rows().for_each(|tally| tally.transcripts = 1);
        self.merge(one);
    }

    fn calls(&mut self, checked: &Checked<'_>) {
        let transcript = checked.transcript;
        for (turn, message) in transcript.messages.iter().enumerate() {
            for call in &message.calls {
                self.tools.entry(call.tool.clone()).or_default().calls += 1;
                self.model(checked, turn).calls += 1;
                self.forms.entry(transcript.format.name()).or_default().calls += 1;
            }
        }
    }

    fn claims(&mut self, checked: &Checked<'_>) {
        for judgement in checked.judgements {
            let verdict = judgement.verdict;
            self.rules.entry(judgement.rule.0).or_default().claims.add(verdict, 1);
            self.model(checked, judgement.claim.turn).claims.add(verdict, 1);
            let form = checked.transcript.format.name();
            self.forms.entry(form).or_default().claims.add(verdict, 1);
            for tool in tools_of(judgement.evidence.iter().filter_map(|e| e.tool.as_deref())) {
                self.tools.entry(tool.to_owned()).or_default().claims.add(verdict, 1);
            }
        }
    }

    fn finding(&mut self, checked: &Checked<'_>, finding: &Finding) {
        let severity = finding.severity;
        self.rules.entry(finding.code.0).or_default().findings.add(severity);
        self.model(checked, finding.turn).findings.add(severity);
        let form = checked.transcript.format.name();
        self.forms.entry(form).or_default().findings.add(severity);
        let called = match &finding.subject {
            Subject::Call(call) => Some(call.tool.as_str()),
            Subject::Claim { .. } => None,
        };
        let shown = finding.evidence.iter().filter_map(|e| e.tool.as_deref());
        for tool in tools_of(called.into_iter().chain(shown)) {
            self.tools.entry(tool.to_owned()).or_default().findings.add(severity);
        }
    }

    fn model(&mut self, checked: &Checked<'_>, turn: usize) -> &mut Tally {
        let name = checked.transcript.model_at(turn).unwrap_or(UNKNOWN);
        self.models.entry(name.to_owned()).or_default()
    }

    fn rows(&mut self) -> impl Iterator<Item = &mut Tally> {
        let by_code = self.rules.values_mut().chain(self.forms.values_mut());
        by_code.chain(self.models.values_mut()).chain(self.tools.values_mut())
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        for (code, tally) in other.rules {
            self.rules.entry(code).or_default().merge(&tally);
        }
        for (name, tally) in other.models {
            self.models.entry(name).or_default().merge(&tally);
        }
        for (name, tally) in other.tools {
            self.tools.entry(name).or_default().merge(&tally);
        }
        for (form, tally) in other.forms {
            self.forms.entry(form).or_default().merge(&tally);
        }
    }

    /// Returns the tables as cells of text: the header row, then the rows. Empty columns and tables
    /// are left out.
    pub(crate) fn grids(&self) -> Vec<Vec<Vec<String>>> {
        let mut grids = Vec::new();
        for (title, rows) in self.tables() {
            let is_filled = |at: usize| {
                at == 0 || rows.iter().any(|(_, t)| t.cells().get(at - 1).is_some_and(|n| *n > 0))
            };
            let kept = |cells: Vec<String>| -> Vec<String> {
                cells
                    .into_iter()
                    .enumerate()
                    .filter(|(at, _)| is_filled(*at))
                    .map(|(_, c)| c)
                    .collect()
            };
            if rows.is_empty() {
                continue;
            }
            let heads = Self::HEADS.map(|head| if head.is_empty() { title } else { head });
            let mut grid = vec![kept(heads.map(str::to_owned).to_vec())];
            grid.extend(rows.iter().map(|(name, tally)| {
                let cells = tally.cells().map(|count| count.to_string());
                kept(std::iter::once((*name).to_owned()).chain(cells).collect())
            }));
            grids.push(grid);
        }
        grids
    }

    /// The four tables: title, and rows by name.
    #[must_use]
    pub fn tables(&self) -> [(&'static str, Vec<(&str, &Tally)>); 4] {
        fn rows<K: AsRef<str>>(tallies: &BTreeMap<K, Tally>) -> Vec<(&str, &Tally)> {
            let mut rows: Vec<_> = tallies.iter().map(|(name, t)| (name.as_ref(), t)).collect();
            // Most errors first, then most warnings.
            rows.sort_by_key(|(_, t)| std::cmp::Reverse((t.findings.error, t.findings.warning)));
            rows
        }
        [
            ("rule", rows(&self.rules)),
            ("model", rows(&self.models)),
            ("tool", rows(&self.tools)),
            ("log format", rows(&self.forms)),
        ]
    }
}

impl Statistics {
    /// The header of each column; the table's title replaces the empty first one.
    pub const HEADS: [&'static str; 8] =
        ["", "errors", "warnings", "notes", "claims", "supported", "not checkable", "calls"];
}

impl Tally {
    /// The numbers of a row, in the order of [`Statistics::HEADS`].
    #[must_use]
    pub fn cells(&self) -> [usize; 7] {
        let Self { claims, findings, calls, .. } = self;
        [
            findings.error,
            findings.warning,
            findings.note,
            claims.total(),
            claims.supported,
            claims.not_checkable,
            *calls,
        ]
    }

    fn merge(&mut self, other: &Self) {
        self.transcripts += other.transcripts;
        self.calls += other.calls;
        self.claims.merge(other.claims);
        self.findings.merge(other.findings);
    }
}

/// Returns each tool once.
fn tools_of<'t>(tools: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut tools: Vec<&str> = tools.filter(|tool| !tool.is_empty()).collect();
    tools.sort_unstable();
    tools.dedup();
    tools
}
