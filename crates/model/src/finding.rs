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

/// What a rule's findings lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The rule does not run.
    Off,
    /// Findings are recorded and shown as notes; they lead to nothing.
    Shadow,
    /// Findings are warnings.
    Warn,
    /// Findings are errors, where what was found is provable.
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

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information.
    Note,
    /// Suspicious, or true but not provable.
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

/// What a finding rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Something unusual about a call, which may be right.
    Suspected,
    /// A judge's opinion whose quotations were found.
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

/// What is known of a finding that a judge read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgeNote {
    /// The judge's name, as the user configured it, or the model's.
    pub name: String,
    /// How sure it is, from 0 to 100.
    pub percent: u8,
    /// What code compared that bears it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
    /// For what is unsupported: what was searched in vain.
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

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The reading of the claim leaves some doubt.
    Likely,
    /// It does not.
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

/// What the record says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The record shows it.
    Supported,
    /// The record shows the opposite.
    Contradicted,
    /// The record does not show it.
    Unsupported,
    /// The record cannot show it either way.
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

/// Where a piece of evidence stands.
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
    /// A fact that code worked out from the whole record.
    Fact {
        /// Its name on the sheet of facts: `F3`.
        fact: String,
    },
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Where it stands.
    #[serde(flatten)]
    pub source: EvidenceSource,
    /// The tool, where it is a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// JSON pointer into the result, or `bytes:START-END` of its text; empty for the whole.
    pub pointer: String,
    /// What stands there, shortened.
    pub excerpt: String,
    /// 1-based line of the source; 0 when unknown.
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
    /// What would have been right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Something the agent said.
    Claim {
        /// Where the claim stands in the message's text.
        span: Span,
        /// The claim.
        claim: Claim,
    },
    /// A call the agent made.
    Call(CallRef),
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code.
    pub code: Code,
    /// The rule's name.
    pub name: &'static str,
    /// How bad.
    pub severity: Severity,
    /// What it rests on.
    pub grade: Grade,
    /// The mode in force for it; a rule in `block` mode that cannot prove its finding warns.
    pub mode: Mode,
    /// What the record says.
    pub verdict: Verdict,
    /// How sure.
    pub confidence: Confidence,
    /// One sentence that a person understands.
    pub message: String,
    /// What to do.
    pub help: Option<Cow<'static, str>>,
    /// The message it is in.
    pub turn: usize,
    /// 1-based line of the source; 0 when unknown.
    pub line: usize,
    /// What it is about.
    pub subject: Subject,
    /// What was looked at.
    pub evidence: Vec<Evidence>,
    /// The judge that read it; none for what a rule found.
    pub judge: Option<JudgeNote>,
}
