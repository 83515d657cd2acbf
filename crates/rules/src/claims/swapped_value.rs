use counterfoil_model::{Claim, ClaimKind, Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::grounding::{Swapped, swapped};
use crate::rule::{Group, Meta, Rule};

/// CS021: a value of one thing is told of another.
pub(crate) struct SwappedValue;

static META: Meta = Meta {
    code: Code("CS021"),
    name: "swapped-value",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent tells of one thing what the results have of another",
    page: include_str!("../../spec/CS021.md"),
};

impl Rule for SwappedValue {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            for Swapped { span, thing, told, owner } in swapped(facts, answer) {
                let text = span.of(answer.prose.text).trim().to_owned();
                let kind = ClaimKind::Value;
                let claim = Claim { kind, text, objects: Vec::new(), span, turn: answer.turn };
                let message = format!("the record has `{told}` for {owner}, and not for {thing}");
                let note = Note::suspected(message).help("hold each value against its own thing");
                findings.contradicted(facts, &claim, note);
            }
        }
    }
}
