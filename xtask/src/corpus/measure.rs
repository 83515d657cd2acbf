use counterfoil_model::{Severity, Subject};
use counterfoil_rules::{Counts, Settings, check};
use rayon::prelude::*;

use super::rows::Row;

/// The findings in one row.
pub(crate) struct Measured {
    pub(crate) row: Row,
    pub(crate) found: Vec<Found>,
    pub(crate) counts: Counts,
}

/// The counted parts of one finding.
pub(crate) struct Found {
    pub(crate) code: &'static str,
    pub(crate) turn: usize,
    pub(crate) blocks: bool,
    /// Whether the finding is about a claim, not a call.
    pub(crate) claim: bool,
    pub(crate) text: String,
    pub(crate) message: String,
}

/// Checks every row, in order, with the default settings.
pub(crate) fn measure(rows: Vec<Row>) -> Vec<Measured> {
    rows.into_par_iter().map(one).collect()
}

fn one(row: Row) -> Measured {
    let report = check(&row.transcript, &Settings::default());
    let found = report
        .findings
        .into_iter()
        .map(|f| Found {
            code: f.code.0,
            turn: f.turn,
            blocks: f.severity == Severity::Error,
            claim: matches!(f.subject, Subject::Claim { .. }),
            text: match f.subject {
                Subject::Claim { claim, .. } => claim.text,
                Subject::Call(call) => format!("{} {}", call.tool, call.pointer),
            },
            message: f.message,
        })
        .collect();
    Measured { row, found, counts: report.counts }
}

impl Measured {
    /// Returns the findings about claims in the labelled message.
    pub(crate) fn at_label(&self) -> impl Iterator<Item = &Found> {
        let turn = self.row.turn;
        self.found.iter().filter(move |f| f.claim && turn.is_none_or(|t| t == f.turn))
    }
}
