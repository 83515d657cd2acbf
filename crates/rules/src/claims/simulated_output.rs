use counterfoil_model::{Code, Mode};

use crate::citation::{invented_reports, simulations};
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// CS013: tool traffic printed as text as if it had happened.
pub(crate) struct SimulatedOutput;

static META: Meta = Meta {
    code: Code("CS013"),
    name: "simulated-output",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent prints tool traffic as text, as if it had happened",
    page: include_str!("../../spec/CS013.md"),
};

impl Rule for SimulatedOutput {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for found in simulations(facts) {
            match found.invented {
                Some(provable) => findings.contradicted(
                    facts,
                    &found.claim,
                    Note::proven("this looks like the output of a tool, but no call returned it")
                        .help("call the tool and report what it returns")
                        .provable_if(provable),
                ),
                None => findings.unsupported(
                    facts,
                    &found.claim,
                    Note::suspected(found.message)
                        .help("call the tool instead of printing the call"),
                ),
            }
        }
        for claim in invented_reports(facts) {
            let note = Note::suspected("this looks like the report of a run that is not on record")
                .help("run it and quote what it prints");
            findings.unsupported(facts, &claim, note);
        }
    }
}
