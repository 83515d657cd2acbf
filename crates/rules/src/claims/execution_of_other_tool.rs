use counterfoil_model::{Code, Mode};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS002: the agent cites an execution as one of another tool.
pub(crate) struct ExecutionOfOtherTool;

static META: Meta = Meta {
    code: Code("CS002"),
    name: "execution-of-other-tool",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent cites an execution as one of another tool",
    page: include_str!("../../spec/CS002.md"),
};

impl Rule for ExecutionOfOtherTool {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            for fault in &citation.faults {
                let Fault::OtherTool { stated, recorded } = fault else { continue };
                let note = Note::proven(format!(
                    "the cited execution was one of `{recorded}`, not of `{stated}`"
                ))
                .help("cite the execution of the tool that was used")
                .evidence(citation.evidence.iter().cloned());
                findings.contradicted(facts, &citation.claim, note);
            }
        }
    }
}
