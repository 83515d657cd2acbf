use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::span::Span;

/// The stable code of a rule or of a call issue: `FK014`, `UNKNOWN_TOOL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// How the findings of a rule are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The rule does not run.
    Off,
    /// Findings are recorded and shown as notes, without consequences.
    Shadow,
    /// Findings are warnings.
    Warn,
    /// Findings are errors if they are provable, otherwise warnings.
    Block,
}

impl Mode {
    /// The name used in configuration and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Shadow => "shadow",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information.
    Note,
    /// Suspicious, or not provable.
    Warning,
    /// Provable.
    Error,
}

impl Severity {
    /// The name used on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The basis of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// An oddity in a call, which may be right.
    Suspected,
    /// The opinion of a judge whose quotations were found in the record.
    Read,
    /// A rule's proof from the record.
    Proven,
}

impl Grade {
    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Read => "read",
            Self::Proven => "proven",
        }
    }
}

/// The details of a finding by a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgeNote {
    /// The judge's name, as configured by the user, or the model's name.
    pub name: String,
    /// Its confidence, from 0 to 100.
    pub percent: u8,
    /// The comparison by code that confirms it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
    /// For unsupported claims: what was searched for without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
}

impl fmt::Display for JudgeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}% sure", self.name, self.percent)?;
        match &self.confirmed {
            Some(confirmed) => write!(f, "; confirmed by code: {confirmed}"),
            None => Ok(()),
        }
    }
}

/// The confidence in a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The reading of the claim is somewhat uncertain.
    Likely,
    /// The reading of the claim is certain.
    Certain,
}

impl Confidence {
    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// What the record shows about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The record shows it.
    Supported,
    /// The record shows the opposite.
    Contradicted,
    /// The record does not show it.
    Unsupported,
    /// The record cannot show it or the opposite.
    NotCheckable,
}

impl Verdict {
    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Contradicted => "contradicted",
            Self::Unsupported => "unsupported",
            Self::NotCheckable => "not checkable",
        }
    }
}

/// The source of a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EvidenceSource {
    /// A receipt.
    Execution {
        /// Its execution id.
        execution_id: String,
    },
    /// A recorded call and its result.
    Call {
        /// The call's id as recorded.
        call_id: String,
    },
    /// A message.
    Message {
        /// Its index.
        turn: usize,
    },
    /// A fact computed from the whole record.
    Fact {
        /// Its name on the sheet of facts: `F3`.
        fact: String,
    },
}

/// Something that was examined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The source.
    #[serde(flatten)]
    pub source: EvidenceSource,
    /// The tool, if the source is a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// JSON pointer into the result, or `bytes:START-END` of its text; empty for the whole.
    pub pointer: String,
    /// The content, shortened.
    pub excerpt: String,
    /// 1-based line of the source; 0 if unknown.
    #[serde(skip)]
    pub line: usize,
}

/// The call that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallRef {
    /// The call's id as recorded.
    pub id: String,
    /// The tool's name as emitted.
    pub tool: String,
    /// JSON pointer of the argument; empty for the call as a whole.
    pub pointer: String,
    /// The correct value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The actual value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A claim of the agent.
    Claim {
        /// The range of the claim in the message's text.
        span: Span,
        /// The claim.
        claim: Claim,
    },
    /// A call by the agent.
    Call(CallRef),
}

/// One problem found by a rule or judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code.
    pub code: Code,
    /// The rule's name.
    pub name: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// Its basis.
    pub grade: Grade,
    /// The mode of the rule. A rule in `block` mode that cannot prove its finding warns.
    pub mode: Mode,
    /// What the record shows.
    pub verdict: Verdict,
    /// The confidence in it.
    pub confidence: Confidence,
    /// One sentence for people.
    pub message: String,
    /// Advice.
    pub help: Option<Cow<'static, str>>,
    /// The message that contains it.
    pub turn: usize,
    /// 1-based line of the source; 0 if unknown.
    pub line: usize,
    /// The claim or call that it is about.
    pub subject: Subject,
    /// The evidence.
    pub evidence: Vec<Evidence>,
    /// The judge that found it; `None` if a rule did.
    pub judge: Option<JudgeNote>,
}
