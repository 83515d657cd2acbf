use counterfoil_model::Mode;

use crate::call::issue::code::MISSING_REQUIRED;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// A required parameter is missing.
pub(crate) struct MissingRequired;

static META: Meta = Meta {
    code: MISSING_REQUIRED,
    name: "missing-required",
    group: Group::Call,
    mode: Mode::Block,
    summary: "a required parameter is missing",
    page: include_str!("../../../spec/MISSING_REQUIRED.md"),
};

impl Rule for MissingRequired {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
