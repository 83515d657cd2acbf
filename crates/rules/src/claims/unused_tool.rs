use counterfoil_model::{ClaimKind, Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::grounding::{Uncalled, uncalled};
use crate::rule::{Group, Meta, Rule};

/// CS022: what only a tool that was not called could have done is told as done.
pub(crate) struct UnusedTool;

static META: Meta = Meta {
    code: Code("CS022"),
    name: "unused-tool",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent tells of what only a tool that was not called could have done",
    page: include_str!("../../spec/CS022.md"),
};

impl Rule for UnusedTool {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            let Some(Uncalled { clause, tool, thing }) = uncalled(facts, answer) else { continue };
            let claim = answer.prose.claim(clause, ClaimKind::Tool, Vec::new(), answer.turn);
            let message =
                format!("`{tool}` was not called, and nothing on record is about `{thing}`");
            let note = Note::suspected(message).help("call the tool, or say that it was not done");
            findings.unsupported(facts, &claim, note);
        }
    }
}
