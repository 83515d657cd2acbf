use counterfoil_ledger::{
    AppendAuditError, AuditEntry, AuditResult, Closed, Egress, ExitCode, Opened, Rejected,
};
use counterfoil_model::{Origin, PermitBasis, Status, ToolErrorCategory};
use counterfoil_tools::RolledBack;

use crate::guard::Guard;
use crate::session::Session;

/// What is known about a call for its audit line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AuditContext<'s> {
    /// The source of the content that led to the call.
    pub(crate) claim_source: Option<&'s str>,
    /// The decision of the model that judges by policies, if it was asked.
    pub(crate) consulted: Option<&'static str>,
    /// What was rolled back after the call failed.
    pub(crate) rolled_back: Option<RolledBack>,
    /// What was sent to the network or held back.
    pub(crate) egress: &'s [Egress],
    /// Why the call failed: the first line of its result, redacted.
    pub(crate) reason: Option<&'s str>,
    /// Whether the call's host did not make it after all.
    pub(crate) not_made: bool,
}

/// Writes the audit lines. Every call ends in exactly one of these.
impl Guard {
    pub(crate) fn audit_closed(
        &self,
        session: &Session,
        opened: &Opened,
        closed: &Closed,
        context: AuditContext<'_>,
    ) -> Result<(), AppendAuditError> {
        let Some(audit) = self.audit() else { return Ok(()) };
        let category = closed.category.unwrap_or(ToolErrorCategory::PermanentFailure);
        let result = match closed.status {
            Status::Completed => AuditResult::Success,
            Status::Timeout => AuditResult::Timeout,
            Status::RolledBack => {
                let RolledBack { restored, deleted } = context.rolled_back.unwrap_or_default();
                AuditResult::Rollback { restored, deleted, category }
            }
            Status::Open
            | Status::Failed
            | Status::Denied
            | Status::Refused
            | Status::Cancelled => AuditResult::Error {
                message: match (closed.exit_code, context.reason) {
                    (Some(code), None) => format!("ended with exit code {code}"),
                    (Some(code), Some(why)) => format!("ended with exit code {code}: {why}"),
                    (None, None) => closed.status_word().to_owned(),
                    (None, Some(why)) => format!("{}: {why}", closed.status_word()),
                },
                category,
            },
        };
        let exit_code = match closed.exit_code {
            Some(code) => ExitCode::Code(code),
            None if self.runs_commands(&opened.tool) => {
                ExitCode::Missing(format!("the command {}", closed.status_word()))
            }
            None => ExitCode::NoShell,
        };
        let mut entry = AuditEntry {
            exit_code,
            truncated: closed.truncated,
            egress: context.egress.to_vec(),
            claim_source: context.claim_source.map(str::to_owned),
            adversarial_policy_decision: context.consulted.map(str::to_owned),
            ..entry(session, opened, result)
        };
        // No one approved a call that its host did not make.
        if context.not_made && opened.permit == PermitBasis::Host {
            entry.approved_by = None;
        }
        audit.record(&entry)
    }

    pub(crate) fn audit_rejected(
        &self,
        session: &Session,
        rejected: &Rejected,
        context: AuditContext<'_>,
    ) -> Result<(), AppendAuditError> {
        let Some(audit) = self.audit() else { return Ok(()) };
        let reason = rejected.codes.join(", ");
        let result = AuditResult::Blocked { reason, category: rejected.category };
        let exit_code = if self.runs_commands(&rejected.call.tool) {
            ExitCode::Missing("the command was not started".to_owned())
        } else {
            ExitCode::NoShell
        };
        let entry = AuditEntry {
            exit_code,
            approved_by: None,
            claim_source: context.claim_source.map(str::to_owned),
            adversarial_policy_decision: context.consulted.map(str::to_owned),
            ..entry(session, &rejected.call, result)
        };
        audit.record(&entry)
    }

    /// Audits a call that no caller is waiting for, so a failure can only be logged.
    pub(crate) fn audit_given_up(&self, session: &Session, opened: &Opened, closed: &Closed) {
        if let Err(error) = self.audit_closed(session, opened, closed, AuditContext::default()) {
            tracing::error!("cannot record a cancelled call in the audit log: {error}");
        }
    }
}

fn entry(session: &Session, opened: &Opened, result: AuditResult) -> AuditEntry {
    let (approved_by, rules) = match &opened.permit {
        PermitBasis::Policy { rules } => (Some("auto".to_owned()), rules),
        PermitBasis::Approval { who, .. } => (Some(who.clone()), &opened.rules),
        PermitBasis::Host => (Some("host".to_owned()), &opened.rules),
        PermitBasis::Reported => (Some("reported".to_owned()), &opened.rules),
        PermitBasis::Nothing => (None, &opened.rules),
    };
    let policy_match = (!rules.is_empty()).then(|| rules.join(", "));
    let server = match &opened.origin {
        Origin::Mcp { server } => Some(server),
        _ => None,
    };
    AuditEntry {
        trust: opened.trust,
        approved_by,
        phase: opened.phase,
        session_id: Some(session.id().to_owned()),
        caller_id: opened.caller_id.clone(),
        policy_match,
        execution_id: Some(opened.execution_id.clone()),
        warnings: opened.warnings.clone(),
        correlation_id: (!opened.call_id.is_empty()).then(|| opened.call_id.clone()),
        speculative: opened.links.speculative,
        cached_from: opened.links.cached_from.clone(),
        server: server.cloned(),
        ..AuditEntry::new(opened.tool.clone(), opened.arguments.clone(), result)
    }
}

/// The maximum length of a repeated reason, in characters.
const REASON: usize = 300;

/// Returns the reason for a failed call: the first line of its result.
pub(crate) fn reason_in(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let end = line.char_indices().nth(REASON).map_or(line.len(), |(at, _)| at);
    line.get(..end)
}
