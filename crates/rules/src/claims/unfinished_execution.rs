use counterfoil_model::{Code, Mode, Status};

use crate::citation::Fault;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS004: the agent cites an execution as good that failed or never ended.
pub(crate) struct UnfinishedExecution;

static META: Meta = Meta {
    code: Code("CS004"),
    name: "unfinished-execution",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent cites an execution as good that failed or never ended",
    page: include_str!("../../spec/CS004.md"),
};

impl Rule for UnfinishedExecution {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for citation in facts.citations() {
            for fault in &citation.faults {
                let Fault::Unfinished { status } = fault else { continue };
                let note = Note::proven(format!("the cited execution {}", ended(*status)))
                    .help("say how it ended, or call the tool again")
                    .evidence(citation.evidence.iter().cloned());
                findings.contradicted(facts, &citation.claim, note);
            }
        }
    }
}

/// How an execution ended, as the end of a sentence.
fn ended(status: Status) -> &'static str {
    match status {
        Status::Open => "has not ended",
        Status::Completed => "ended",
        Status::Failed => "failed",
        Status::Denied => "was denied",
        Status::Refused => "was refused",
        Status::Cancelled => "was cancelled",
        Status::Timeout => "timed out",
        Status::RolledBack => "was rolled back",
    }
}
