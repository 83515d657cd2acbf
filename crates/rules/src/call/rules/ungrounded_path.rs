use counterfoil_model::Mode;

use crate::call::issue::code::UNGROUNDED_PATH;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// A path was read that nothing mentioned and that does not exist.
pub(crate) struct UngroundedPath;

static META: Meta = Meta {
    code: UNGROUNDED_PATH,
    name: "ungrounded-path",
    group: Group::Call,
    mode: Mode::Warn,
    summary: "a path was read that nothing mentioned and that does not exist",
    page: include_str!("../../../spec/UNGROUNDED_PATH.md"),
};

impl Rule for UngroundedPath {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
