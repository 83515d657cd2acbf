use counterfoil_ledger::{AuditFiles, tail_audit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// Whether the ledger and the audit log can be read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HealthItem {
    /// `ok`; `reading` until the existing ledger has been read once; or `trouble`.
    pub(crate) status: &'static str,
    /// The version of the program.
    pub(crate) version: &'static str,
    /// The state of the ledger.
    pub(crate) ledger: LedgerHealth,
    /// The state of the audit log; absent if there is none.
    pub(crate) audit: Option<AuditHealth>,
}

/// The state of the ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LedgerHealth {
    /// The name of the ledger.
    pub(crate) origin: String,
    /// The number of events since the beginning.
    pub(crate) events: u64,
    /// When the oldest remaining event was written; absent if nothing has been deleted.
    pub(crate) kept_since: Option<i64>,
    /// The current signing key, as PEM.
    pub(crate) public_key: String,
    /// What is wrong with the ledger, if anything.
    pub(crate) trouble: Option<String>,
}

/// The state of the audit log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditHealth {
    /// The total size of its files in bytes.
    pub(crate) bytes: u64,
    /// The number of lines since the beginning.
    pub(crate) lines: u64,
    /// When the last one was written: milliseconds since the Unix epoch.
    pub(crate) last_at: Option<i64>,
    /// What is wrong with the last line, if anything.
    pub(crate) trouble: Option<String>,
}

/// Whether the ledger and the audit log can be read. This only looks at the ends;
/// `counterfoil audit verify` checks everything.
pub(crate) fn health(dashboard: &Dashboard, _: &VisitorRequest) -> Result<HealthItem, HttpProblem> {
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
