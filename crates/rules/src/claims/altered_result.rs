use counterfoil_model::{Code, Evidence, Mode};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS005: the agent cites an execution with content that differs from its recorded result.
pub(crate) struct AlteredResult;

static META: Meta = Meta {
    code: Code("CS005"),
    name: "altered-result",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent cites an execution with content that differs from its recorded result",
    page: include_str!("../../spec/CS005.md"),
};

impl Rule for AlteredResult {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            for fault in &citation.faults {
                let Fault::Altered(difference) = fault else { continue };
                let message = if difference.recorded.is_empty() {
                    format!("the recorded result has no `{}`", difference.stated)
                } else {
                    format!(
                        "the agent says `{}` where the recorded result has `{}`",
                        difference.stated, difference.recorded
                    )
                };
                let evidence = citation.evidence.iter().cloned().map(|evidence| {
                    let excerpt = if difference.recorded.is_empty() {
                        evidence.excerpt.clone()
                    } else {
                        difference.recorded.clone()
                    };
                    Evidence { pointer: difference.pointer.clone(), excerpt, ..evidence }
                });
                let note =
                    Note::proven(message).help("quote the result as it is").evidence(evidence);
                findings.contradicted(facts, &citation.claim, note);
            }
        }
    }
}
