use counterfoil_model::{Severity, Subject};
use counterfoil_rules::{Counts, Settings, check};
use rayon::prelude::*;

use super::rows::Row;

/// What was found in one row.
pub(crate) struct Measured {
    pub(crate) row: Row,
    pub(crate) found: Vec<Found>,
    pub(crate) counts: Counts,
}

/// One finding, as far as it is counted.
pub(crate) struct Found {
    pub(crate) code: &'static str,
    pub(crate) turn: usize,
    pub(crate) blocks: bool,
    /// About something said, not about a call.
    pub(crate) claim: bool,
    pub(crate) text: String,
    pub(crate) message: String,
}

/// Checks every row, in order, with the settings that users have who set nothing.
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
    /// What was found in the labelled message, about what it says.
    pub(crate) fn at_label(&self) -> impl Iterator<Item = &Found> {
        let turn = self.row.turn;
        self.found.iter().filter(move |f| f.claim && turn.is_none_or(|t| t == f.turn))
    }
}
