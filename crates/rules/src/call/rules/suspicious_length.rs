use counterfoil_model::Mode;

use crate::call::issue::code::SUSPICIOUS_LENGTH;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// A text argument is unusually long.
pub(crate) struct SuspiciousLength;

static META: Meta = Meta {
    code: SUSPICIOUS_LENGTH,
    name: "suspicious-length",
    group: Group::Call,
    mode: Mode::Warn,
    summary: "a text argument is unusually long",
    page: include_str!("../../../spec/SUSPICIOUS_LENGTH.md"),
};

impl Rule for SuspiciousLength {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
