use counterfoil_model::Mode;

use crate::call::issue::code::INVALID_VALUE;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// An argument is outside what its schema allows.
pub(crate) struct InvalidValue;

static META: Meta = Meta {
    code: INVALID_VALUE,
    name: "invalid-value",
    group: Group::Call,
    mode: Mode::Block,
    summary: "an argument is outside what its schema allows",
    page: include_str!("../../../spec/INVALID_VALUE.md"),
};

impl Rule for InvalidValue {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
