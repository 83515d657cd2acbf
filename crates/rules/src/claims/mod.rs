//! The claim rules, one file each, in one table.

mod masked_failure;
mod phantom_completion;

use crate::rule::Rule;

/// Every claim rule.
pub(crate) const RULES: &[&dyn Rule] =
    &[&phantom_completion::PhantomCompletion, &masked_failure::MaskedFailure];
