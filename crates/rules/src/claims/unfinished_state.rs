use counterfoil_model::{ClaimKind, Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::grounding::{Unfinished, unfinished};
use crate::rule::{Group, Meta, Rule};

/// CS023: what the record has as pending is told as finished.
pub(crate) struct UnfinishedState;

static META: Meta = Meta {
    code: Code("CS023"),
    name: "unfinished-state",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent tells as finished what the record has as pending",
    page: include_str!("../../spec/CS023.md"),
};

impl Rule for UnfinishedState {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            let Some(Unfinished { clause, told, state, at }) = unfinished(facts, answer) else {
                continue;
            };
            let claim = answer.prose.claim(clause, ClaimKind::Value, Vec::new(), answer.turn);
            let message = format!("the agent says {told}; the latest state on record is `{state}`");
            let note = Note::suspected(message).evidence(facts.evidence_at(at));
            let note = note.help("say what it is waiting for, or look again");
            findings.contradicted(facts, &claim, note);
        }
    }
}
