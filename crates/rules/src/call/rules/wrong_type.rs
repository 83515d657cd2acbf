use counterfoil_model::Mode;

use crate::call::issue::code::WRONG_TYPE;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// An argument has another JSON type than its schema says.
pub(crate) struct WrongType;

static META: Meta = Meta {
    code: WRONG_TYPE,
    name: "wrong-type",
    group: Group::Call,
    mode: Mode::Block,
    summary: "an argument has another JSON type than its schema says",
    page: include_str!("../../../spec/WRONG_TYPE.md"),
};

impl Rule for WrongType {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
