//! The call rules, in one table: what admission says about a call, said about recorded ones.

mod mentions;
mod recorded;
mod rules;

pub(crate) use recorded::Admissions;
pub(crate) use rules::RULES;
