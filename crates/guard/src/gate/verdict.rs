use std::fmt;

use counterfoil_ledger::APPROVAL_REQUIRED;
use counterfoil_model::{Digest, ToolErrorCategory};
use serde::Serialize;

use crate::admitted::Admitted;
use counterfoil_redact::Redactor;

/// A gate's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct GateId(pub &'static str);

impl fmt::Display for GateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A gate's verdict on a call, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The gate does not object. `matched` names the rule that allows the call, if there is one.
    Allow {
        /// The rule that allows it.
        matched: Option<String>,
    },
    /// A person has to agree first.
    Ask(Question),
    /// The call may not run.
    Deny(Reason),
}

/// The code of a call that was cancelled before a person decided on it.
pub(crate) const CANCELLED: &str = "cancelled";

/// The code of a call that contains only the model's hidden thinking.
const ONLY_THINKING: &str = "only_thinking";

/// Why a call is denied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reason {
    /// The gate that denies it.
    pub gate: GateId,
    /// A short stable word: `blocked_command`, `quota_blocked`, `policy_denied`, …
    pub code: &'static str,
    /// One sentence: lower case, no full stop.
    pub message: String,
    /// The rule that decided, if there is one.
    pub matched: Option<String>,
    /// Advice on what to do instead.
    pub help: Option<String>,
}

impl Reason {
    /// The rules that deny for these reasons, each after its gate.
    pub(crate) fn rules(reasons: &[Self]) -> Vec<String> {
        let rule = |reason: &Self| reason.matched.as_ref().map(|rule| in_words(reason.gate, rule));
        reasons.iter().filter_map(rule).collect()
    }

    /// The reason against a call that contains only the model's hidden thinking: it runs nothing.
    #[must_use]
    pub fn only_thinking() -> Self {
        Self {
            gate: GateId("admission"),
            code: ONLY_THINKING,
            message: "the call contains only your thoughts and no arguments".to_owned(),
            matched: None,
            help: Some("repeat it with its arguments, or continue without it".to_owned()),
        }
    }

    /// The category of a denial for these reasons.
    #[must_use]
    pub fn category(reasons: &[Self]) -> ToolErrorCategory {
        let all =
            |code: &str| !reasons.is_empty() && reasons.iter().all(|reason| reason.code == code);
        if all(APPROVAL_REQUIRED) {
            ToolErrorCategory::ConfirmationRequired
        } else if all(CANCELLED) {
            ToolErrorCategory::Cancelled
        } else if all(ONLY_THINKING) {
            ToolErrorCategory::InvalidParameters
        } else {
            ToolErrorCategory::PolicyBlocked
        }
    }
}

/// A rule after its gate, as receipts and the audit log name it.
pub(crate) fn in_words(gate: GateId, rule: &str) -> String {
    format!("{gate}: {rule}")
}

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stake {
    /// Someone wants to approve such calls first.
    Agreement,
    /// Its effect cannot be determined before it runs.
    Unread,
    /// Its effect cannot be undone: it deletes, or reveals a secret.
    Irreversible,
    /// It changes what controls the agent, or what other programs run.
    Protected,
}

impl Stake {
    /// Whether the call is denied if no person can be asked, whatever the mode, because the damage
    /// would be permanent.
    #[must_use]
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Irreversible | Self::Protected)
    }
}

/// A question for a person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Question {
    /// The gate that asks.
    pub gate: GateId,
    /// The digest of the tool and its arguments. An approval is valid only for this digest.
    pub digest: Digest,
    /// The tool.
    pub tool: String,
    /// The call in one line, redacted.
    pub call: String,
    /// Why the person is asked.
    pub why: String,
    /// The rule that asks, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    /// The kind of risk.
    #[serde(skip)]
    pub stake: Stake,
}

impl Question {
    /// Creates the question that `gate` asks about this call.
    pub(crate) fn about(call: &Admitted, gate: GateId, why: String) -> Self {
        let tool = call.tool().name.clone();
        let (call, digest) = (in_one_line(call), call.digest());
        Self { gate, digest, call, tool, why, matched: None, stake: Stake::Agreement }
    }

    pub(crate) fn at_stake(self, stake: Stake) -> Self {
        Self { stake, ..self }
    }

    /// The rules that ask these questions, each after its gate.
    pub(crate) fn rules(questions: &[Self]) -> Vec<String> {
        let rule =
            |question: &Self| question.matched.as_ref().map(|rule| in_words(question.gate, rule));
        questions.iter().filter_map(rule).collect()
    }
}

/// The call for the person who has to decide: its beginning and its end, redacted.
fn in_one_line(call: &Admitted) -> String {
    const HEAD: usize = 16_000;
    const TAIL: usize = 4_000;
    let arguments = Redactor::standard().redact_exact(call.exact_arguments());
    let line = format!("{} {arguments}", call.tool().name);
    let count = line.chars().count();
    if count <= HEAD + TAIL {
        return line;
    }
    let head: String = line.chars().take(HEAD).collect();
    let tail: String = line.chars().skip(count - TAIL).collect();
    format!("{head} … {} characters left out … {tail}", count - HEAD - TAIL)
}

/// The combined verdict of all gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// Every gate allows it.
    Allowed {
        /// The rules that matched, by gate.
        matched: Vec<(GateId, String)>,
    },
    /// No gate denies it, but some ask.
    NeedsApproval(Vec<Question>),
    /// Some gates deny it.
    Denied(Vec<Reason>),
}

/// Combines verdicts: deny beats ask beats allow, and no verdict at all is a denial. The order of
/// the verdicts does not matter, and an additional verdict never loosens the result.
#[must_use]
pub fn combine(verdicts: impl IntoIterator<Item = (GateId, Verdict)>) -> Judged {
    let (mut allowed, mut questions, mut denied) = (Vec::new(), Vec::new(), Vec::new());
    let mut any = false;
    for (gate, verdict) in verdicts {
        any = true;
        match verdict {
            Verdict::Allow { matched } => allowed.extend(matched.map(|rule| (gate, rule))),
            Verdict::Ask(question) => questions.push(question),
            Verdict::Deny(reason) => denied.push(reason),
        }
    }
    if !any {
        denied.push(Reason {
            gate: GateId("none"),
            code: "no_gate",
            message: "no gate judged this call".to_owned(),
            matched: None,
            help: None,
        });
    }
    allowed.sort();
    questions.sort();
    denied.sort();
    if !denied.is_empty() {
        Judged::Denied(denied)
    } else if !questions.is_empty() {
        Judged::NeedsApproval(questions)
    } else {
        Judged::Allowed { matched: allowed }
    }
}
