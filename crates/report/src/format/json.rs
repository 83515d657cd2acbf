use crate::checked::{Checked, Unread};
use crate::record::{ClaimRecord, FindingRecord, SCHEMA_VERSION, SummaryRecord};
use crate::renderer::{Fragment, Look, Renderer};
use crate::summary::Summary;
use crate::visible::json_line;

/// A single document, `{schema_version, findings, claims?, summary}`, with one finding per line.
pub(crate) struct Json {
    show_supported: bool,
}

impl Json {
    pub(crate) fn new(look: &Look) -> Self {
        Self { show_supported: look.show_supported }
    }
}

impl Renderer for Json {
    fn head(&self) -> String {
        format!("{{\"schema_version\":{SCHEMA_VERSION},\"findings\":[\n")
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let findings: Vec<String> =
            checked.findings.iter().map(|f| json_line(&FindingRecord::new(checked, f))).collect();
        let claims: Vec<String> = if self.show_supported {
            checked.judgements.iter().map(|j| json_line(&ClaimRecord::new(checked, j))).collect()
        } else {
            Vec::new()
        };
        Fragment { body: findings.join(self.separator()), aside: claims.join(self.separator()) }
    }

    fn unread(&self, _: &Unread<'_>) -> Fragment {
        // The summary lists them.
        Fragment::default()
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn tail(&self, summary: &Summary, aside: &str) -> String {
        let claims =
            if self.show_supported { format!(",\"claims\":[\n{aside}\n]") } else { String::new() };
        let summary = json_line(&SummaryRecord::new(summary));
        format!("\n]{claims},\"summary\":{summary}}}\n")
    }
}
