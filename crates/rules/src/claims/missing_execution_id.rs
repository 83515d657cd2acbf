use counterfoil_model::{Code, Mode};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS006: the agent presents a tool result without the id of its execution.
pub(crate) struct MissingExecutionId;

static META: Meta = Meta {
    code: Code("CS006"),
    name: "missing-execution-id",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent presents a tool result without the id of its execution",
    page: include_str!("../../spec/CS006.md"),
};

impl Rule for MissingExecutionId {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            for fault in &citation.faults {
                let Fault::MissingId { tool } = fault else { continue };
                let note = Note::proven(format!(
                    "a result of `{tool}` is presented without an execution id"
                ))
                .help("call the tool and cite the id of its execution");
                findings.unsupported(facts, &citation.claim, note);
            }
        }
    }
}
