use crate::rule::Rule;
use crate::{call, citation, claims};

/// All rules, claim rules first, each group in the order of its table.
pub fn rules() -> impl Iterator<Item = &'static dyn Rule> {
    let claims = claims::RULES.iter().chain(citation::RULES);
    claims.chain(call::RULES).copied()
}
