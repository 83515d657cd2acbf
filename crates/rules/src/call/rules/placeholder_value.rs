use counterfoil_model::Mode;

use crate::call::issue::code::PLACEHOLDER_VALUE;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// A whole value is a template that nobody filled in.
pub(crate) struct PlaceholderValue;

static META: Meta = Meta {
    code: PLACEHOLDER_VALUE,
    name: "placeholder-value",
    group: Group::Call,
    mode: Mode::Warn,
    summary: "a whole value is a template that nobody filled in",
    page: include_str!("../../../spec/PLACEHOLDER_VALUE.md"),
};

impl Rule for PlaceholderValue {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
