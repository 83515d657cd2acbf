use counterfoil_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};
use crate::tool_use::{Mention, retrieved, shares_topic};

/// FK016: a look-up is implied that nobody made.
pub(crate) struct ImplicitToolUse;

static META: Meta = Meta {
    code: Code("FK016"),
    name: "implicit-tool-use",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent claims a look-up in an unnamed source, but made no such call",
    page: include_str!("../../spec/FK016.md"),
};

impl Rule for ImplicitToolUse {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for mention in facts.mentions().iter().filter(|m| m.name.is_none()) {
            judge(facts, findings, mention);
        }
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, mention: &Mention) {
    let claim = &mention.claim;
    let Some(execution) = retrieved(facts, claim.turn) else {
        if !facts.is_complete_before(claim.turn) {
            return findings.not_checkable(claim);
        }
        let note = Note::suspected("the agent says it looked something up, but no call did")
            .help("look it up with a tool, or say that it was not checked");
        return findings.unsupported(facts, claim, note);
    };
    match shares_topic(facts, &mention.topic, claim.turn) {
        true => findings.supported(claim, [facts.evidence(execution)]),
        false => findings.not_checkable(claim),
    }
}
