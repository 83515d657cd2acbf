use counterfoil_model::{ClaimKind, Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::grounding::{Mistaken, mistaken};
use crate::roles::other_target;
use crate::rule::{Group, Meta, Rule};

/// CS020: a call did what is claimed, for another thing than the one that is named.
pub(crate) struct OtherTarget;

static META: Meta = Meta {
    code: Code("CS020"),
    name: "other-target",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent names another target than the call that did it",
    page: include_str!("../../spec/CS020.md"),
};

impl Rule for OtherTarget {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for (said, verdict) in facts.actions() {
            let Some(other) = other_target(facts, said, verdict) else { continue };
            let message = format!(
                "the call that did this was made for `{}`, not {}",
                other.instead, other.named
            );
            let note = Note::suspected(message).evidence(facts.evidence_at(other.at));
            findings.contradicted(facts, &said.claim, note);
        }
        for answer in facts.answers() {
            let Some(Mistaken { clause, told, held, at }) = mistaken(facts, answer) else {
                continue;
            };
            let claim = answer.prose.claim(clause, ClaimKind::Value, Vec::new(), answer.turn);
            let message = format!("the call that did this has `{held}`, not {told}");
            let note = Note::suspected(message).evidence(facts.evidence_at(at));
            findings.contradicted(facts, &claim, note);
        }
    }
}
