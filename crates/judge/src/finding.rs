//! Converts a judge's finding to the type that rules report.

use counterfoil_model::{
    Claim, ClaimKind, Code, Confidence, Evidence, EvidenceSource, Finding, Grade, JudgeNote,
    Message, Mode, Severity, Span, Subject, Verdict,
};
use counterfoil_record::{Label, LineKind};

use crate::assess::{Cited, ReadFinding};
use crate::case::Case;
use crate::opinion::ReadVerdict;

/// The code of every judge finding.
pub const JUDGE: Code = Code("JUDGE");
/// The name of judge findings.
pub const JUDGE_NAME: &str = "read-by-a-judge";

/// Maximum characters of a quotation in a message; the evidence has it in full.
const SHOWN: usize = 160;

impl ReadFinding {
    /// The finding as every report shows it. Except for quotations from the answer and the record,
    /// all of its text is written by Counterfoil, not by the judge.
    #[must_use]
    pub fn to_finding(&self, case: &Case<'_>, judge: &str) -> Finding {
        let facts = case.facts();
        let turn = facts.message();
        let line = facts.record().transcript().messages.get(turn).map_or(0, |m| m.line);
        let verdict = match self.verdict {
            ReadVerdict::Contradicted => Verdict::Contradicted,
            ReadVerdict::Unsupported => Verdict::Unsupported,
        };
        let claim = Claim {
            kind: ClaimKind::Statement,
            text: self.says.clone(),
            objects: Vec::new(),
            span: self.span,
            turn,
        };
        let help = self.nearest.as_ref().map(|nearest| {
            let (stated, recorded) = (&nearest.stated, shortened(&nearest.recorded));
            format!(
                "the closest match for `{stated}` in the record is `{recorded}`, in {}",
                nearest.label
            )
        });
        Finding {
            code: JUDGE,
            name: JUDGE_NAME,
            severity: self.severity,
            grade: Grade::Read,
            mode: Mode::Block,
            verdict,
            confidence: match self.confirmation {
                Some(_) => Confidence::Certain,
                None => Confidence::Likely,
            },
            message: self.message(case),
            help: help.map(Into::into),
            turn,
            line,
            subject: Subject::Claim { span: self.span, claim },
            evidence: self.cited.iter().map(|cited| evidence(case, cited)).collect(),
            judge: Some(JudgeNote {
                name: judge.to_owned(),
                percent: percent(self.confidence),
                confirmed: self.confirmation.as_ref().map(ToString::to_string),
                searched: self.searched.as_ref().map(ToString::to_string),
            }),
        }
    }

    fn message(&self, case: &Case<'_>) -> String {
        let says = shortened(&self.says);
        match (&self.cited, &self.searched) {
            (Some(cited), _) => {
                let place = place_of(case, cited.label);
                format!("“{says}” does not match {place}: “{}”", shortened(&cited.quote))
            }
            (None, Some(searched)) => {
                format!("nothing in the record supports “{says}”: {searched}")
            }
            (None, None) => format!("nothing in the record supports “{says}”"),
        }
    }
}

/// A false statement that a judge found in an answer that was sent back, kept so that repeating it
/// does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradicted {
    /// The words in the answer.
    pub words: String,
    /// The message of the finding.
    pub message: String,
    /// The judge's name.
    pub judge: String,
    /// The judge's confidence, from 0 to 100.
    pub percent: u8,
}

impl Contradicted {
    /// What to keep of a finding; `None` if it is not an error or not from a judge.
    #[must_use]
    pub fn from_finding(finding: &Finding) -> Option<Self> {
        let Subject::Claim { claim, .. } = &finding.subject else { return None };
        let judge = finding.judge.as_ref().filter(|_| finding.severity == Severity::Error)?;
        let (words, message) = (claim.text.clone(), finding.message.clone());
        Some(Self { words, message, judge: judge.name.clone(), percent: judge.percent })
    }

    /// The finding in a later answer, if it repeats these words. The caller must ensure that no
    /// tool was called in between.
    #[must_use]
    pub fn again(&self, answer: &Message, turn: usize) -> Option<Finding> {
        let start = answer.text.find(&self.words)?;
        let span = Span::new(start, start + self.words.len());
        let (kind, text) = (ClaimKind::Statement, self.words.clone());
        let claim = Claim { kind, text, objects: Vec::new(), span, turn };
        Some(Finding {
            code: JUDGE,
            name: JUDGE_NAME,
            severity: Severity::Error,
            grade: Grade::Read,
            mode: Mode::Block,
            verdict: Verdict::Contradicted,
            confidence: Confidence::Likely,
            message: format!("repeated without a tool call in between: {}", self.message),
            help: None,
            turn,
            line: answer.line,
            subject: Subject::Claim { span, claim },
            evidence: Vec::new(),
            judge: Some(JudgeNote {
                name: self.judge.clone(),
                percent: self.percent,
                confirmed: None,
                searched: None,
            }),
        })
    }
}

/// A quotation on one line, shortened if necessary.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn percent(confidence: f64) -> u8 {
    (confidence.clamp(0.0, 1.0) * 100.0).round() as u8
}

/// A description of a line, such as `the result of get_order (R3)`.
fn place_of(case: &Case<'_>, label: Label) -> String {
    let tool = case.facts().call(label.number).map(|call| call.tool.as_ref());
    let tool = tool.filter(|tool| !tool.is_empty()).unwrap_or("a tool");
    match label.kind {
        LineKind::System => format!("the system message ({label})"),
        LineKind::User => format!("the user's message ({label})"),
        LineKind::Agent => format!("the agent's earlier message ({label})"),
        LineKind::Call => format!("the call to `{tool}` ({label})"),
        LineKind::Result => format!("the result of `{tool}` ({label})"),
        LineKind::Fact => format!("the record as a whole ({label})"),
    }
}

fn evidence(case: &Case<'_>, cited: &Cited) -> Evidence {
    let Cited { label, span, quote } = cited;
    let facts = case.facts();
    let found = facts.line(*label).map(|(_, line)| line);
    let messages = &facts.record().transcript().messages;
    let message = found.and_then(|line| messages.get(line.message));
    let call = facts.call(label.number).filter(|_| is_of_a_call(label.kind));
    let source = match label.kind {
        LineKind::Fact => EvidenceSource::Fact { fact: label.to_string() },
        LineKind::Call | LineKind::Result => {
            EvidenceSource::Call { call_id: call.map_or("", |call| call.id).to_owned() }
        }
        LineKind::System | LineKind::User | LineKind::Agent => {
            EvidenceSource::Message { turn: found.map_or(0, |line| line.message) }
        }
    };
    Evidence {
        source,
        tool: call.map(|call| call.tool.to_string()),
        pointer: format!("bytes:{}-{}", span.start, span.end),
        excerpt: quote.clone(),
        line: message.map_or(0, |message| message.line),
    }
}

fn is_of_a_call(kind: LineKind) -> bool {
    matches!(kind, LineKind::Call | LineKind::Result)
}
