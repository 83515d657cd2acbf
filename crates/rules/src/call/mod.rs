//! The call rules, in one table: they apply the checks of admission to recorded calls.

mod admissions;
mod mentions;
mod recorded;
mod rules;

pub(crate) use admissions::Admissions;
pub(crate) use rules::RULES;
