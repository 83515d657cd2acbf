use counterfoil_model::{ClaimKind, Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::grounding::{Invented, invented};
use crate::rule::{Group, Meta, Rule};

/// CS025: a cause that nothing in the session speaks of.
pub(crate) struct InventedCause;

static META: Meta = Meta {
    code: Code("CS025"),
    name: "invented-cause",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent gives a cause that nothing in the session speaks of",
    page: include_str!("../../spec/CS025.md"),
};

impl Rule for InventedCause {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            let Some(Invented { clause, words }) = invented(facts, answer) else { continue };
            let claim = answer.prose.claim(clause, ClaimKind::Provenance, Vec::new(), answer.turn);
            let words = words.join("`, `");
            let message = format!("nothing on record, and nobody, speaks of `{words}`");
            let note =
                Note::suspected(message).help("say that the cause is not known, or look for it");
            findings.unsupported(facts, &claim, note);
        }
    }
}
