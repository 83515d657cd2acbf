use counterfoil_model::Mode;

use crate::call::issue::code::UNGROUNDED_VALUE;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// An id, e-mail address or URL appears nowhere before the call.
pub(crate) struct UngroundedValue;

static META: Meta = Meta {
    code: UNGROUNDED_VALUE,
    name: "ungrounded-value",
    group: Group::Call,
    mode: Mode::Warn,
    summary: "an id, e-mail address or URL appears nowhere before the call",
    page: include_str!("../../../spec/UNGROUNDED_VALUE.md"),
};

impl Rule for UngroundedValue {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
