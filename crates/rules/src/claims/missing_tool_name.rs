use counterfoil_model::{Code, Mode};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS007: the agent cites an execution without its tool, and no receipt names the tool.
pub(crate) struct MissingToolName;

static META: Meta = Meta {
    code: Code("CS007"),
    name: "missing-tool-name",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent cites an execution without its tool, and no receipt names the tool",
    page: include_str!("../../spec/CS007.md"),
};

impl Rule for MissingToolName {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            for fault in &citation.faults {
                let Fault::MissingTool { id } = fault else { continue };
                let note = Note::proven(format!(
                    "`{id}` is cited without its tool, and no receipt says which tool it was"
                ))
                .help("name the tool beside the id");
                findings.unsupported(facts, &citation.claim, note);
            }
        }
    }
}
