use counterfoil_model::{Code, Mode};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS003: the agent cites an execution that is older than the window.
pub(crate) struct ExpiredExecution;

static META: Meta = Meta {
    code: Code("CS003"),
    name: "expired-execution",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent cites an execution that is older than the window",
    page: include_str!("../../spec/CS003.md"),
};

impl Rule for ExpiredExecution {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            for fault in &citation.faults {
                let Fault::Expired { age, window } = fault else { continue };
                let note = Note::proven(format!(
                    "the cited execution is {age} s old, and the window is {window} s"
                ))
                .help("call the tool again")
                .evidence(citation.evidence.iter().cloned());
                findings.contradicted(facts, &citation.claim, note);
            }
        }
    }
}
