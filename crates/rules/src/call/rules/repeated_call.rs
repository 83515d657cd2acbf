use counterfoil_model::Mode;

use crate::call::issue::code::REPEATED_CALL;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::rule::{Group, Meta, Rule};

/// The agent repeats the same call, or cycle of calls, without progress.
pub(crate) struct RepeatedCall;

static META: Meta = Meta {
    code: REPEATED_CALL,
    name: "repeated-call",
    group: Group::Call,
    mode: Mode::Block,
    summary: "the agent repeats the same call, or cycle of calls, without progress",
    page: include_str!("../../../spec/REPEATED_CALL.md"),
};

impl Rule for RepeatedCall {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.admissions().report(META.code, facts, findings);
    }
}
