use std::borrow::Cow;

use counterfoil_model::{
    CallRef, Claim, Code, Confidence, Evidence, Finding, Grade, Judgement, Mode, Severity, Subject,
    Verdict,
};

use crate::facts::Facts;
use crate::meta::{Group, Meta};

/// Collects the findings of one rule.
///
/// The rule states what the record shows and whether that is provable. Severity follows from that
/// and from the rule's mode, in one place, so that no rule decides what blocks.
#[derive(Debug)]
pub(crate) struct Findings<'r> {
    meta: &'static Meta,
    mode: Mode,
    findings: &'r mut Vec<Finding>,
    judgements: &'r mut Vec<Judgement>,
}

/// The content of a finding, without its subject.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// One sentence for people.
    pub(crate) message: String,
    /// Advice.
    pub(crate) help: Option<Cow<'static, str>>,
    /// The confidence in the finding.
    pub(crate) confidence: Confidence,
    /// Whether the record proves it. Only then may it block.
    pub(crate) provable: bool,
    /// The evidence.
    pub(crate) evidence: Vec<Evidence>,
}

impl Note {
    /// A note that is provable and certain.
    pub(crate) fn proven(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            confidence: Confidence::Certain,
            provable: true,
            evidence: Vec::new(),
        }
    }

    /// Sets whether it is provable. Otherwise it does not block.
    pub(crate) fn provable_if(mut self, provable: bool) -> Self {
        self.provable = provable;
        self
    }

    /// Adds advice.
    pub(crate) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds evidence.
    pub(crate) fn evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}

impl<'r> Findings<'r> {
    pub(crate) fn new(
        meta: &'static Meta,
        mode: Mode,
        findings: &'r mut Vec<Finding>,
        judgements: &'r mut Vec<Judgement>,
    ) -> Self {
        Self { meta, mode, findings, judgements }
    }

    /// Records that the record shows the claim.
    pub(crate) fn supported(
        &mut self,
        claim: &Claim,
        evidence: impl IntoIterator<Item = Evidence>,
    ) {
        self.judge(claim, Verdict::Supported, evidence.into_iter().collect());
    }

    /// Records that the record cannot show the claim either way, and why: it is counted, never
    /// reported.
    pub(crate) fn not_checkable(&mut self, claim: &Claim, reason: &'static str) {
        self.judge(claim, Verdict::NotCheckable, Vec::new());
        if let Some(judgement) = self.judgements.last_mut() {
            judgement.reason = Some(reason);
        }
    }

    /// Reports that the record shows the opposite of the claim.
    pub(crate) fn contradicted(&mut self, facts: &Facts<'_>, claim: &Claim, note: Note) {
        self.claim(facts, claim, Verdict::Contradicted, note);
    }

    /// Reports that the record does not show the claim.
    pub(crate) fn unsupported(&mut self, facts: &Facts<'_>, claim: &Claim, note: Note) {
        self.claim(facts, claim, Verdict::Unsupported, note);
    }

    /// A claim that is not disproved is not a finding: whether it is false is for a judge to
    /// decide.
    fn claim(&mut self, facts: &Facts<'_>, claim: &Claim, verdict: Verdict, note: Note) {
        if !note.provable {
            return self.not_checkable(claim, doubt(facts, claim.turn));
        }
        self.judge(claim, verdict, note.evidence.clone());
        let line = facts.transcript().messages.get(claim.turn).map_or(0, |m| m.line);
        let subject = Subject::Claim { span: claim.span, claim: claim.clone() };
        self.push(verdict, claim.turn, line, subject, note);
    }

    /// Reports that a call is wrong.
    pub(crate) fn call(&mut self, turn: usize, line: usize, call: CallRef, note: Note) {
        self.push(Verdict::Contradicted, turn, line, Subject::Call(call), note);
    }

    fn push(&mut self, verdict: Verdict, turn: usize, line: usize, subject: Subject, note: Note) {
        let grade = if note.provable { Grade::Proven } else { Grade::Suspected };
        // Grades are for claims: an issue of a call does not depend on reading prose.
        let warns = note.provable || self.meta.group == Group::Call;
        let severity = match self.mode {
            Mode::Block if note.provable => Severity::Error,
            Mode::Block | Mode::Warn if warns => Severity::Warning,
            Mode::Block | Mode::Warn | Mode::Shadow | Mode::Off => Severity::Note,
        };
        self.findings.push(Finding {
            code: self.code(),
            name: self.meta.name,
            severity,
            grade,
            mode: self.mode,
            verdict,
            confidence: note.confidence,
            message: note.message,
            help: note.help,
            turn,
            line,
            subject,
            evidence: note.evidence,
            judge: None,
        });
    }

    fn judge(&mut self, claim: &Claim, verdict: Verdict, evidence: Vec<Evidence>) {
        let rule = self.code();
        let (claim, reason) = (claim.clone(), None);
        self.judgements.push(Judgement { claim, verdict, reason, rule, evidence });
    }

    /// The code of the rule.
    pub(crate) fn code(&self) -> Code {
        self.meta.code
    }
}

/// Why the record before message `turn` proves nothing: something in it that may account for any
/// claim.
fn doubt(facts: &Facts<'_>, turn: usize) -> &'static str {
    if !facts.is_complete_before(turn) {
        "the log may lack calls or results"
    } else if facts.delegates_before(turn) {
        "another agent may have done it, and its work is not in this log"
    } else if facts.is_opaque_before(turn) {
        "a command or tool with unknown effects may account for it"
    } else if facts.acts_freely_before(turn) {
        "a command or a file edit may account for it"
    } else {
        "the sentence may mean something that the record does not contradict"
    }
}
