//! The claim rules, one file each, in one table.

mod false_denial;
mod hallucinated_tool;
mod implicit_tool_use;
mod masked_failure;
mod phantom_completion;
mod unverified_outcome;

use crate::rule::Rule;

/// Every claim rule.
pub(crate) const RULES: &[&dyn Rule] = &[
    &phantom_completion::PhantomCompletion,
    &masked_failure::MaskedFailure,
    &hallucinated_tool::HallucinatedTool,
    &implicit_tool_use::ImplicitToolUse,
    &unverified_outcome::UnverifiedOutcome,
    &false_denial::FalseDenial,
];
