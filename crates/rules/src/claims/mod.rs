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
pub(crate) const RULES: &[&dyn Rule] = &[
    &phantom_completion::PhantomCompletion,
    &masked_failure::MaskedFailure,
    &hallucinated_tool::HallucinatedTool,
    &unverified_outcome::UnverifiedOutcome,
    &unmet_obligation::UnmetObligation,
    &false_denial::FalseDenial,
    &misreported_result::MisreportedResult,
    &wrong_count::WrongCount,
    &simulated_output::SimulatedOutput,
    &receipt_tampering::ReceiptTampering,
];
