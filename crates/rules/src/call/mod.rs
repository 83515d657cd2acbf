//! The call rules, in one table: they apply the checks of admission to recorded calls.

mod mentions;
mod recorded;
mod rules;

pub(crate) use recorded::Admissions;
pub(crate) use rules::RULES;
