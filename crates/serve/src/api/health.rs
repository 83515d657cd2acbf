use counterfoil_ledger::{AuditFiles, tail_audit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::Asked;

/// Whether the record can be read and followed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HealthItem {
    /// `ok`; `reading` until all that the ledger held was read once; or `trouble`.
    pub(crate) status: &'static str,
    /// Of the program.
    pub(crate) version: &'static str,
    /// The ledger.
    pub(crate) ledger: LedgerHealth,
    /// The audit log; absent where there is none.
    pub(crate) audit: Option<AuditHealth>,
}

/// The ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LedgerHealth {
    /// Its name.
    pub(crate) origin: String,
    /// Events, from the first ever.
    pub(crate) events: u64,
    /// When the oldest event that is still there was written; absent while nothing was dropped.
    pub(crate) kept_since: Option<i64>,
    /// The key that signs now, as PEM.
    pub(crate) public_key: String,
    /// What is wrong with it.
    pub(crate) trouble: Option<String>,
}

/// The audit log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditHealth {
    /// Bytes of all its files.
    pub(crate) bytes: u64,
    /// Lines, from the first ever.
    pub(crate) lines: u64,
    /// When the last one was written: milliseconds since the Unix epoch.
    pub(crate) last_at: Option<i64>,
    /// What is wrong with its last line.
    pub(crate) trouble: Option<String>,
}

/// Whether the record can be read and followed. What no look at an end shows, `counterfoil audit
/// verify` shows.
pub(crate) fn health(dashboard: &Dashboard, _: &Asked) -> Result<HealthItem, HttpProblem> {
    let (events, is_complete, trouble) = {
        let index = dashboard.known();
        (index.next(), index.is_complete, index.trouble.clone())
    };
    let ledger = dashboard.ledger();
    let ledger = LedgerHealth {
        origin: ledger.origin(),
        events,
        kept_since: ledger.kept_since()?,
        public_key: ledger.public_key().to_string(),
        trouble,
    };
    let audit = audit(dashboard);
    let troubled =
        ledger.trouble.is_some() || audit.as_ref().is_some_and(|audit| audit.trouble.is_some());
    let status = match (troubled, is_complete) {
        (true, _) => "trouble",
        (false, false) => "reading",
        (false, true) => "ok",
    };
    Ok(HealthItem { status, version: dashboard.version(), ledger, audit })
}

fn audit(dashboard: &Dashboard) -> Option<AuditHealth> {
    let path = dashboard.audit().filter(|path| path.exists())?;
    let nothing =
        |trouble: String| AuditHealth { bytes: 0, lines: 0, last_at: None, trouble: Some(trouble) };
    let files = match AuditFiles::open(path) {
        Ok(files) => files,
        Err(error) => return Some(nothing(error.to_string())),
    };
    let bytes = files.bytes();
    Some(match tail_audit(files, 1) {
        Err(error) => nothing(error.to_string()),
        Ok(lines) => match lines.into_iter().next() {
            None => AuditHealth { bytes, lines: 0, last_at: None, trouble: None },
            Some(Ok(line)) => {
                AuditHealth { bytes, lines: line.seq + 1, last_at: Some(line.at), trouble: None }
            }
            Some(Err(problem)) => {
                let trouble = Some(format!("its last line: {}", problem.why));
                AuditHealth { bytes, lines: 0, last_at: None, trouble }
            }
        },
    })
}
