//! The claim rules, one file each, in one table.

mod altered_result;
mod execution_of_other_tool;
mod expired_execution;
mod false_denial;
mod hallucinated_tool;
mod masked_failure;
mod misreported_result;
mod missing_execution_id;
mod missing_tool_name;
mod phantom_completion;
mod receipt_tampering;
mod simulated_output;
mod unfinished_execution;
mod unknown_execution;
mod unmet_obligation;
mod unverified_outcome;
mod wrong_count;

use crate::rule::Rule;

/// Every claim rule.
pub(crate) const RULES: &[&dyn Rule] = &[
    &phantom_completion::PhantomCompletion,
    &masked_failure::MaskedFailure,
    &hallucinated_tool::HallucinatedTool,
    &unverified_outcome::UnverifiedOutcome,
    &unmet_obligation::UnmetObligation,
    &false_denial::FalseDenial,
    &misreported_result::MisreportedResult,
    &wrong_count::WrongCount,
    &unknown_execution::UnknownExecution,
    &execution_of_other_tool::ExecutionOfOtherTool,
    &expired_execution::ExpiredExecution,
    &unfinished_execution::UnfinishedExecution,
    &altered_result::AlteredResult,
    &missing_execution_id::MissingExecutionId,
    &missing_tool_name::MissingToolName,
    &simulated_output::SimulatedOutput,
    &receipt_tampering::ReceiptTampering,
];
