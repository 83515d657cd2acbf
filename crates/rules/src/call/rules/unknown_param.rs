use counterfoil_model::Mode;

use crate::call::issue::code::UNKNOWN_PARAM;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// The call has an argument that the tool does not declare.
pub(crate) struct UnknownParam;

static META: Meta = Meta {
    code: UNKNOWN_PARAM,
    name: "unknown-param",
    group: Group::Call,
    mode: Mode::Block,
    summary: "the call has an argument that the tool does not declare",
    page: include_str!("../../../spec/UNKNOWN_PARAM.md"),
};

impl Rule for UnknownParam {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
