use crate::checked::{Checked, Unread};
use crate::record::{ClaimRecord, ClauseRecord, FindingRecord, SummaryRecord, TranscriptRecord};
use crate::renderer::{Fragment, Look, Renderer};
use crate::summary::Summary;
use crate::visible::json_line;

/// One object per line: for each transcript its findings (and, when requested, its claims, or its
/// claims and clauses), then the transcript itself; the summary is last.
pub(crate) struct Jsonl {
    shows_claims: bool,
}

impl Jsonl {
    pub(crate) fn new(look: &Look) -> Self {
        Self { shows_claims: look.show_supported || look.why }
    }
}

impl Renderer for Jsonl {
    fn head(&self) -> String {
        String::new()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let mut body = String::new();
        for finding in checked.findings {
            body.push_str(&json_line(&FindingRecord::new(checked, finding)));
            body.push('\n');
        }
        if self.shows_claims {
            for judgement in checked.judgements {
                body.push_str(&json_line(&ClaimRecord::new(checked, judgement)));
                body.push('\n');
            }
        }
        for reading in checked.readings {
            body.push_str(&json_line(&ClauseRecord::new(checked, reading)));
            body.push('\n');
        }
        body.push_str(&json_line(&TranscriptRecord::new(checked)));
        body.push('\n');
        Fragment::body(body)
    }

    fn unread(&self, _: &Unread<'_>) -> Fragment {
        // The summary lists them.
        Fragment::default()
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        json_line(&SummaryRecord::new(summary)) + "\n"
    }
}
