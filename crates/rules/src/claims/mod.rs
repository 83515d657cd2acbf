//! The claim rules, one file each, in one table.

mod false_denial;
mod hallucinated_tool;
mod masked_failure;
mod misreported_result;
mod phantom_completion;
mod receipt_tampering;
mod simulated_output;
mod unmet_obligation;
mod unverified_outcome;
mod wrong_count;

use crate::rule::Rule;

/// All claim rules.
pub(crate) const RULES: &[&Rule] = &[
    &phantom_completion::RULE,
    &masked_failure::RULE,
    &hallucinated_tool::RULE,
    &unverified_outcome::RULE,
    &unmet_obligation::RULE,
    &false_denial::RULE,
    &misreported_result::RULE,
    &wrong_count::RULE,
    &simulated_output::RULE,
    &receipt_tampering::RULE,
];
