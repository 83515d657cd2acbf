use crate::rule::Rule;
use crate::{call, citation, claims};

/// All rules, claim rules first, each group in the order of its table.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let claims = claims::RULES.iter().copied();
    claims.chain(&citation::RULES).chain(&call::RULES)
}
