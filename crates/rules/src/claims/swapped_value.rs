use counterfoil_model::{Claim, ClaimKind, Code, Mode};

use crate::facts::{Answer, Facts};
use crate::findings::{Findings, Note};
use crate::grounding::{Swap, swaps};
use crate::roles::{Swapped, swapped};
use crate::rule::{Group, Meta, Rule};

/// CS021: a value of one thing is told of another.
pub(crate) struct SwappedValue;

static META: Meta = Meta {
    code: Code("CS021"),
    name: "swapped-value",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent tells of one thing what the results have of another",
    page: include_str!("../../../../spec/rules/CS021.md"),
};

impl Rule for SwappedValue {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            for swapped in swapped(facts, answer) {
                judge(facts, findings, answer, swapped);
            }
            for Swap { span, thing, told, owner } in swaps(facts, answer) {
                let text = span.of(answer.prose.text).trim().to_owned();
                let kind = ClaimKind::Value;
                let claim = Claim { kind, text, objects: Vec::new(), span, turn: answer.turn };
                let message = format!("the record has `{told}` for {owner}, and not for {thing}");
                findings.contradicted(facts, &claim, Note::suspected(message));
            }
        }
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>, swapped: Swapped) {
    let Swapped { span, thing, held, told, owner } = swapped;
    let text = span.of(answer.prose.text).trim().to_owned();
    let kind = ClaimKind::Value;
    let claim = Claim { kind, text, objects: Vec::new(), span, turn: answer.turn };
    let message = format!("the record has `{told}` for {owner}; for {thing} it has `{held}`");
    findings.contradicted(facts, &claim, Note::suspected(message));
}
