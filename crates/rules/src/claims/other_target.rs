use counterfoil_model::{Claim, ClaimKind, Code, Mode};

use crate::facts::{Answer, Facts};
use crate::findings::{Findings, Note};
use crate::roles::{Swapped, other_target, swapped};
use crate::rule::{Group, Meta, Rule};

/// FK013: a call did what is claimed, for another thing than the one that is named.
pub(crate) struct OtherTarget;

static META: Meta = Meta {
    code: Code("FK013"),
    name: "other-target",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent names another target than the call that did it",
    page: include_str!("../../../../spec/rules/FK013.md"),
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
            for swapped in swapped(facts, answer) {
                judge_swapped(facts, findings, answer, swapped);
            }
        }
    }
}

/// A value of one thing that is told of another.
fn judge_swapped(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    swapped: Swapped,
) {
    let Swapped { span, thing, held, told, owner } = swapped;
    let text = span.of(answer.prose.text).trim().to_owned();
    let kind = ClaimKind::Value;
    let claim = Claim { kind, text, objects: Vec::new(), span, turn: answer.turn };
    let message = format!("the record has `{told}` for {owner}; for {thing} it has `{held}`");
    findings.contradicted(facts, &claim, Note::suspected(message));
}
