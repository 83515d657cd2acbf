use counterfoil_ledger::{AppendError, Draft, ReadLedgerError, Said};
use counterfoil_model::{
    Digest, Evidence, Finding, Judgement, ObjectKind, Role, Severity, Subject,
};
use counterfoil_rules::{Counts, LONGEST_ANSWER, Settings, check, feedback};
use serde::Serialize;
use serde_json::{Value, json};

use crate::guard::Guard;
use crate::session::Session;

/// The result of verifying an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verified {
    /// What should happen to it.
    pub disposition: Disposition,
    /// Its findings, by position.
    pub findings: Vec<Finding>,
    /// The text that was judged: the redacted answer. Spans refer to it.
    pub text: String,
    /// Why a judge that should have read the answer did not, or did not read all of it.
    pub unjudged: Option<String>,
    /// The judgement of every claim that a rule decided, by position.
    pub judgements: Vec<Judgement>,
    /// The number of claims in the whole session, by verdict.
    pub counts: Counts,
    /// The message for the model if the answer is blocked; empty otherwise. It never grounds a
    /// value, even if it becomes part of the conversation.
    pub feedback: String,
}

/// What should happen to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// It may pass.
    Pass,
    /// It may pass with its warnings shown.
    Annotate,
    /// It may not pass: the record contradicts it, or lacks what it claims.
    Block,
}

/// Why an answer could not be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The answer or the judgement could not be recorded.
    #[error("the judgement cannot be recorded: {0}")]
    NotRecorded(#[from] AppendError),
    /// The record of the session could not be read.
    #[error("the record of the session cannot be read: {0}")]
    Unreadable(#[from] ReadLedgerError),
}

/// The maximum number of evidence items that are recorded per finding.
const EVIDENCE: usize = 6;

impl Session {
    /// Records a message of a person or a policy. It may ground values, never actions.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn hear(&self, role: Role, text: &str) -> Result<(), AppendError> {
        self.hear_in(None, role, text).await
    }

    /// Records a message in the conversation of a sub-agent: one to it, or one by it.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn hear_in(
        &self,
        caller: Option<&str>,
        role: Role,
        text: &str,
    ) -> Result<(), AppendError> {
        let guard = self.guard();
        let text = guard.redactor().redact(text).into_owned();
        let at = guard.clock().wall();
        let caller_id = caller.map(str::to_owned);
        let message = Said { role, caller_id, text: Digest::of_bytes(text.as_bytes()), at };
        let stored = vec![text.into_bytes()];
        let event = guard.ledger().append(self.id(), Draft::Said(message), stored.clone()).await?;
        self.note(event, stored);
        if role == Role::User && caller.is_none() {
            // Earlier counts belong to another task.
            self.conduct().new_task();
        }
        Ok(())
    }

    /// Records a judgement that was made on a host's own record: the agent's answer and the
    /// findings.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn judged<'f>(
        &self,
        answer: &str,
        findings: impl IntoIterator<Item = &'f Finding>,
    ) -> Result<(), AppendError> {
        let guard = self.guard();
        self.hear(Role::Assistant, answer).await?;
        let answer = guard.redactor().redact(answer);
        guard.note_judgement(self, &answer, findings).await
    }

    /// Checks an answer of the agent against the session's receipts. The judgement is recorded
    /// together with its time and window, so that a replay gives the same result.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub async fn verify(&self, answer: &str) -> Result<Verified, VerifyError> {
        self.verify_of(None, answer).await
    }

    /// Checks a sub-agent's report against the session's receipts.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub async fn verify_of(
        &self,
        caller: Option<&str>,
        answer: &str,
    ) -> Result<Verified, VerifyError> {
        let guard = self.guard();
        // A host's tools are in its own log.
        if !guard.is_for_host() {
            guard.list_tools(self, &guard.toolset()).await?;
        }
        self.hear_in(caller, Role::Assistant, answer).await?;
        let transcript = self.transcript()?;
        let turn = transcript.messages.len().saturating_sub(1);
        let text = transcript.messages.last().map(|last| last.text.clone()).unwrap_or_default();
        let settings: &Settings = guard.rules();
        let report = check(&transcript, settings);
        let mut findings: Vec<Finding> =
            report.findings.into_iter().filter(|finding| finding.turn == turn).collect();
        let unjudged = guard.read_answer(&transcript, turn, &mut findings).await;
        let unjudged = unjudged.or_else(|| {
            let too_long = text.len() > LONGEST_ANSWER;
            too_long.then(|| format!("only the first {} MiB were read", LONGEST_ANSWER >> 20))
        });
        guard.note_judgement(self, &text, &findings).await?;
        let disposition = disposition(&findings);
        let feedback =
            if disposition == Disposition::Block { feedback(&findings) } else { String::new() };
        let mut judgements = report.judgements;
        judgements.retain(|judgement| judgement.claim.turn == turn);
        let counts = report.counts;
        Ok(Verified { disposition, findings, text, unjudged, judgements, counts, feedback })
    }
}

impl Guard {
    async fn note_judgement<'f>(
        &self,
        session: &Session,
        answer: &str,
        findings: impl IntoIterator<Item = &'f Finding>,
    ) -> Result<(), AppendError> {
        let draft = Draft::Judged {
            answer: Digest::of_bytes(answer.as_bytes()),
            at: self.clock().wall(),
            window_secs: self.rules().execution_window_secs,
            findings: findings.into_iter().map(|finding| self.recorded(finding)).collect(),
        };
        let event = self.ledger().append(session.id(), draft, Vec::new()).await?;
        session.note(event, Vec::new());
        Ok(())
    }

    /// A finding in the form that the ledger keeps: the rule, the words, the tool that they name
    /// and the evidence.
    fn recorded(&self, finding: &Finding) -> Value {
        let redact = |text: &str| self.redactor().redact(text).into_owned();
        let claim = match &finding.subject {
            Subject::Claim { claim, .. } => Some(claim),
            Subject::Call(_) => None,
        };
        let tool = claim
            .and_then(|claim| claim.objects.iter().find(|object| object.kind == ObjectKind::Tool));
        let evidence = finding.evidence.iter().take(EVIDENCE).map(|piece| {
            let piece = Evidence { excerpt: redact(&piece.excerpt), ..piece.clone() };
            serde_json::to_value(piece).unwrap_or_default()
        });
        json!({
            "code": finding.code,
            "severity": finding.severity,
            "grade": finding.grade,
            "judge": finding.judge,
            "message": redact(&finding.message),
            "verdict": finding.verdict,
            "claim": claim.map(|claim| redact(&claim.text)),
            "tool": tool.map(|tool| redact(&tool.text)),
            "evidence": evidence.collect::<Vec<_>>(),
        })
    }
}

pub(crate) fn disposition(findings: &[Finding]) -> Disposition {
    let worst = findings.iter().map(|finding| finding.severity).max();
    match worst {
        Some(Severity::Error) => Disposition::Block,
        Some(Severity::Warning) => Disposition::Annotate,
        Some(Severity::Note) | None => Disposition::Pass,
    }
}
