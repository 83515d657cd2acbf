use counterfoil_model::Mode;

use crate::call::issue::code::UNKNOWN_TOOL;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// The called tool does not exist or is not available.
pub(crate) struct UnknownTool;

static META: Meta = Meta {
    code: UNKNOWN_TOOL,
    name: "unknown-tool",
    group: Group::Call,
    mode: Mode::Block,
    summary: "the called tool does not exist or is not available",
    page: include_str!("../../../spec/UNKNOWN_TOOL.md"),
};

impl Rule for UnknownTool {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
