use counterfoil_model::Mode;

use crate::call::issue::code::INVALID_FORMAT;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// A text does not have the format that its schema names.
pub(crate) struct InvalidFormat;

static META: Meta = Meta {
    code: INVALID_FORMAT,
    name: "invalid-format",
    group: Group::Call,
    mode: Mode::Warn,
    summary: "a text does not have the format that its schema names",
    page: include_str!("../../../spec/INVALID_FORMAT.md"),
};

impl Rule for InvalidFormat {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
