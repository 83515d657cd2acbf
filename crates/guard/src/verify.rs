use counterfoil_ledger::{AppendError, Draft, ReadLedgerError, Said};
use counterfoil_model::{Digest, Evidence, Finding, Judgement, Role, Severity, Subject};
use counterfoil_rules::{Counts, LONGEST_ANSWER, Settings, check, feedback};
use serde::Serialize;
use serde_json::{Value, json};

use crate::guard::Guard;
use crate::session::Session;

/// What an answer of the agent is worth.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verified {
    /// What should happen to it.
    pub disposition: Disposition,
    /// What is wrong with it, by place.
    pub findings: Vec<Finding>,
    /// The text that was judged: the answer after redaction. Spans index it.
    pub text: String,
    /// Why no judge read the answer, where one should have, or why not all of it was read.
    pub unjudged: Option<String>,
    /// Every claim of the answer that a rule decided, by place.
    pub judgements: Vec<Judgement>,
    /// Claims of the whole session by verdict.
    pub counts: Counts,
    /// What to tell the model when the answer may not pass; empty when it may. It grounds nothing,
    /// even where it is heard.
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

/// An answer could not be judged, or the judgement could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// What was said, or the judgement, could not be written down.
    #[error("the judgement cannot be recorded: {0}")]
    NotRecorded(#[from] AppendError),
    /// The record of the session could not be read.
    #[error("the record of the session cannot be read: {0}")]
    Unreadable(#[from] ReadLedgerError),
}

/// Pieces of evidence that are kept of one finding.
const EVIDENCE: usize = 6;

impl Session {
    /// Takes note of what a person or a policy said. It may ground values, never actions.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn hear(&self, role: Role, text: &str) -> Result<(), AppendError> {
        self.hear_in(None, role, text).await
    }

    /// The same in the conversation of a sub-agent: what is said to it, and what it says.
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
        let said = Said { role, caller_id, text: Digest::of_bytes(text.as_bytes()), at };
        let stored = vec![text.into_bytes()];
        let event = guard.ledger().append(self.id(), Draft::Said(said), stored.clone()).await?;
        self.note(event, stored);
        if role == Role::User && caller.is_none() {
            // What went before was another task.
            self.conduct().new_task();
        }
        Ok(())
    }

    /// Records a judgement that was made on a host's own record: what the agent said, and what was
    /// found in it.
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

    /// Holds an answer of the agent against the session's receipts. The judgement is recorded with
    /// the time and window it used, so that a replay judges alike.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub async fn verify(&self, answer: &str) -> Result<Verified, VerifyError> {
        self.verify_of(None, answer).await
    }

    /// The same for what a sub-agent reports.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub async fn verify_of(
        &self,
        caller: Option<&str>,
        answer: &str,
    ) -> Result<Verified, VerifyError> {
        let guard = self.guard();
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
            too_long.then(|| format!("only its first {} MiB were read", LONGEST_ANSWER >> 20))
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

    /// A finding as the ledger keeps it: what was found in which words, and what was looked at.
    fn recorded(&self, finding: &Finding) -> Value {
        let redact = |text: &str| self.redactor().redact(text).into_owned();
        let claim = match &finding.subject {
            Subject::Claim { claim, .. } => Some(redact(&claim.text)),
            Subject::Call(_) => None,
        };
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
            "claim": claim,
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
