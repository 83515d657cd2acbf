use counterfoil_model::{Code, Mode};

use crate::citation::simulations;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::meta::{Group, Meta};
use crate::rule::Rule;

/// CS013: the agent prints tool traffic as text as if it had happened.
pub(crate) struct SimulatedOutput;

static META: Meta = Meta {
    code: Code("CS013"),
    name: "simulated-output",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent writes tool calls or results as text, as if they had happened",
    page: include_str!("../../spec/CS013.md"),
};

impl Rule for SimulatedOutput {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for found in simulations(facts) {
            let note =
                Note::proven("this looks like the output of a tool, but no call returned it")
                    .help("call the tool and report what it returns");
            findings.contradicted(facts, &found, note);
        }
    }
}
