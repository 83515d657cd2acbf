use countersign_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::outcome::OutcomeVerdict;
use crate::rule::{Group, Meta, Rule};

/// CS015: a check is said to have passed whose status nobody saw, or that checked nothing.
pub(crate) struct MaskedExit;

static META: Meta = Meta {
    code: Code("CS015"),
    name: "masked-exit",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "a check is said to pass whose status was hidden, or that found nothing to check",
    page: include_str!("../../../../spec/rules/CS015.md"),
};

impl Rule for MaskedExit {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for (said, verdict) in facts.outcomes() {
            let (execution, message, help) = match verdict {
                OutcomeVerdict::Empty(execution) => (
                    execution,
                    format!("the latest {} run found nothing to run", said.noun()),
                    "run it so that it collects something",
                ),
                OutcomeVerdict::Hidden(execution) => (
                    execution,
                    format!("the status of the latest {} run was hidden", said.noun()),
                    "run it without a pipe or a fallback behind it, or with `set -o pipefail`",
                ),
                OutcomeVerdict::Running(execution) => (
                    execution,
                    format!("the latest {} run has not ended", said.noun()),
                    "wait for its end, and read its output",
                ),
                _ => continue,
            };
            let note = Note::suspected(message).help(help).evidence([facts.evidence(execution)]);
            findings.unsupported(facts, &said.claim, note);
        }
    }
}
