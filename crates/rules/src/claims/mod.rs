//! The claim rules, one file each, in one table.

use crate::rule::Rule;

/// Every claim rule.
pub(crate) const RULES: &[&dyn Rule] = &[];
