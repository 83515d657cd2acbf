use counterfoil_model::Mode;

use crate::call::issue::code::MALFORMED_ARGUMENTS;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// The arguments are not one JSON object.
pub(crate) struct MalformedArguments;

static META: Meta = Meta {
    code: MALFORMED_ARGUMENTS,
    name: "malformed-arguments",
    group: Group::Call,
    mode: Mode::Block,
    summary: "the arguments are not one JSON object",
    page: include_str!("../../../spec/MALFORMED_ARGUMENTS.md"),
};

impl Rule for MalformedArguments {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
