use counterfoil_model::{ClaimKind, Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::grounding::{Unknown, unknown};
use crate::rule::{Group, Meta, Rule};

/// CS024: a number that stands nowhere and follows from nothing.
pub(crate) struct UnknownNumber;

static META: Meta = Meta {
    code: Code("CS024"),
    name: "unknown-number",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent tells a number that the session has nowhere and that follows from nothing in it",
    page: include_str!("../../spec/CS024.md"),
};

impl Rule for UnknownNumber {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            let Some(Unknown { clause, text }) = unknown(facts, answer) else { continue };
            let claim = answer.prose.claim(clause, ClaimKind::Value, Vec::new(), answer.turn);
            let message =
                format!("`{text}` is nowhere in the session, and follows from nothing in it");
            let note =
                Note::suspected(message).help("quote the number, or show how it comes about");
            findings.unsupported(facts, &claim, note);
        }
    }
}
