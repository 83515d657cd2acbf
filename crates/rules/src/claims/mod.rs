//! The claim rules, one file each, in one table.

mod altered_result;
mod execution_of_other_tool;
mod expired_execution;
mod false_denial;
mod hallucinated_tool;
mod implicit_tool_use;
mod masked_exit;
mod masked_failure;
mod missing_execution_id;
mod missing_tool_name;
mod phantom_completion;
mod simulated_output;
mod stale_check;
mod unfinished_execution;
mod unknown_execution;
mod unverified_outcome;

use crate::rule::Rule;

/// Every claim rule.
pub(crate) const RULES: &[&dyn Rule] = &[
    &phantom_completion::PhantomCompletion,
    &masked_failure::MaskedFailure,
    &hallucinated_tool::HallucinatedTool,
    &implicit_tool_use::ImplicitToolUse,
    &unverified_outcome::UnverifiedOutcome,
    &stale_check::StaleCheck,
    &masked_exit::MaskedExit,
    &false_denial::FalseDenial,
    &unknown_execution::UnknownExecution,
    &execution_of_other_tool::ExecutionOfOtherTool,
    &expired_execution::ExpiredExecution,
    &unfinished_execution::UnfinishedExecution,
    &altered_result::AlteredResult,
    &missing_execution_id::MissingExecutionId,
    &missing_tool_name::MissingToolName,
    &simulated_output::SimulatedOutput,
];
