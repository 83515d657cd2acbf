use counterfoil_model::{Code, Mode};

use crate::citation::simulations;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::rule::Rule;

/// CS013: the agent prints tool traffic as text as if it had happened.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("CS013"),
    "simulated-output",
    Mode::Block,
    "the agent writes tool calls or results as text, as if they had happened",
    include_str!("../../spec/CS013.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for found in simulations(facts) {
        let note = Note::proven("this looks like the output of a tool, but no call returned it")
            .help("call the tool and report what it returns");
        findings.contradicted(facts, &found, note);
    }
}
