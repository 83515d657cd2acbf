use counterfoil_model::{Code, Mode};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS001: the agent cites an execution by an id that no execution has.
pub(crate) struct UnknownExecution;

static META: Meta = Meta {
    code: Code("CS001"),
    name: "unknown-execution",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent cites an execution by an id that no execution has",
    page: include_str!("../../spec/CS001.md"),
};

impl Rule for UnknownExecution {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            if citation.faults.is_empty() {
                findings.supported(&citation.claim, citation.evidence.iter().cloned());
            }
            for fault in &citation.faults {
                let Fault::Unknown { id, provable } = fault else { continue };
                let note = Note::proven(format!("no execution has the id `{id}`"))
                    .help("call the tool and cite the id that it returns, or leave the id out")
                    .provable_if(*provable);
                findings.contradicted(facts, &citation.claim, note);
            }
        }
    }
}
