//! The call rules, one file each, in one table.

use crate::rule::Rule;

/// Every call rule.
pub(crate) const RULES: &[&dyn Rule] = &[];
