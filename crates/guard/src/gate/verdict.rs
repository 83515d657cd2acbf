use std::fmt;

use counterfoil_model::Digest;
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

/// What a gate says about a call. The reason travels inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing against it. `matched` names the rule that says so, where there is one.
    Allow {
        /// The rule that allows it.
        matched: Option<String>,
    },
    /// A person has to agree first.
    Ask(Question),
    /// No.
    Deny(Reason),
}

/// Why a call is denied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reason {
    /// Who says so.
    pub gate: GateId,
    /// A short stable word: `blocked_command`, `quota_blocked`, `policy_denied`, …
    pub code: &'static str,
    /// One sentence: lower case, no full stop.
    pub message: String,
    /// The rule that decided, where there is one.
    pub matched: Option<String>,
    /// What would settle it.
    pub help: Option<String>,
}

/// What is at stake where a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stake {
    /// Somebody wants to know of such calls first.
    Agreement,
    /// What it does cannot be read before it runs.
    Unread,
    /// Nothing brings back what it does: it deletes, or lets a secret out.
    Irreversible,
    /// It changes what decides about the agent, or what others run.
    Protected,
}

impl Stake {
    /// Whether it is denied where nobody is asked, whatever the mode: what was lost then stays so.
    #[must_use]
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Irreversible | Self::Protected)
    }
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Question {
    /// Who asks.
    pub gate: GateId,
    /// The digest of tool and arguments that an approval holds for, and for nothing else.
    pub digest: Digest,
    /// The tool.
    pub tool: String,
    /// The call in one line, redacted.
    pub call: String,
    /// Why it is asked.
    pub why: String,
    /// What is at stake.
    #[serde(skip)]
    pub stake: Stake,
}

impl Question {
    /// The question that `gate` has about this call.
    pub(crate) fn about(call: &Admitted, gate: GateId, why: String) -> Self {
        let tool = call.tool().name.clone();
        let (call, digest) = (in_one_line(call), call.digest());
        Self { gate, digest, call, tool, why, stake: Stake::Agreement }
    }

    pub(crate) fn at_stake(self, stake: Stake) -> Self {
        Self { stake, ..self }
    }
}

/// The call for somebody who has to decide about it: its beginning and its end, without secrets.
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

/// What all gates together say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// Every gate allows it; the rules that matched.
    Allowed {
        /// Rules that said so, by gate.
        matched: Vec<(GateId, String)>,
    },
    /// No gate denies it, and these ask.
    Asked(Vec<Question>),
    /// These deny it.
    Denied(Vec<Reason>),
}

/// Joins verdicts: deny beats ask beats allow; no verdict at all is a denial. The order of the
/// verdicts does not matter, and one more never loosens the result.
#[must_use]
pub fn combine(verdicts: impl IntoIterator<Item = (GateId, Verdict)>) -> Judged {
    let (mut allowed, mut asked, mut denied) = (Vec::new(), Vec::new(), Vec::new());
    let mut any = false;
    for (gate, verdict) in verdicts {
        any = true;
        match verdict {
            Verdict::Allow { matched } => allowed.extend(matched.map(|rule| (gate, rule))),
            Verdict::Ask(question) => asked.push(question),
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
    asked.sort();
    denied.sort();
    if !denied.is_empty() {
        Judged::Denied(denied)
    } else if !asked.is_empty() {
        Judged::Asked(asked)
    } else {
        Judged::Allowed { matched: allowed }
    }
}
