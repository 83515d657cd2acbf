//! The claim rules, one file each, in one table.

mod altered_result;
mod empty_handed_report;
mod execution_of_other_tool;
mod expired_execution;
mod fabricated_error;
mod false_absence;
mod false_denial;
mod hallucinated_tool;
mod implicit_tool_use;
mod impossible_order;
mod masked_exit;
mod masked_failure;
mod misreported_result;
mod missing_execution_id;
mod missing_tool_name;
mod partial_completion;
mod phantom_completion;
mod receipt_tampering;
mod silent_failure;
mod simulated_output;
mod stale_check;
mod unfinished_execution;
mod unknown_execution;
mod unmet_obligation;
mod unseen_source;
mod unverified_outcome;
mod wrong_count;

use crate::rule::Rule;

/// Every claim rule.
pub(crate) const RULES: &[&dyn Rule] = &[
    &phantom_completion::PhantomCompletion,
    &partial_completion::PartialCompletion,
    &masked_failure::MaskedFailure,
    &silent_failure::SilentFailure,
    &impossible_order::ImpossibleOrder,
    &hallucinated_tool::HallucinatedTool,
    &implicit_tool_use::ImplicitToolUse,
    &unverified_outcome::UnverifiedOutcome,
    &stale_check::StaleCheck,
    &masked_exit::MaskedExit,
    &unmet_obligation::UnmetObligation,
    &false_denial::FalseDenial,
    &empty_handed_report::EmptyHandedReport,
    &misreported_result::MisreportedResult,
    &wrong_count::WrongCount,
    &false_absence::FalseAbsence,
    &fabricated_error::FabricatedError,
    &unseen_source::UnseenSource,
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
