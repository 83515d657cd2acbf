//! What clauses of languages other than English claim: the counterpart of the extraction that
//! stands in `action/`, `outcome/`, `tool_use/` and CS017 for English. Judging is shared.
//!
//! Every clause was read by [`crate::prose::Vocabulary`]; here only groups of its lexicon are
//! asked for, never words.

mod actions;
mod denials;
mod outcomes;
mod tool_names;
mod tool_uses;

pub(crate) use actions::action_claim;
pub(crate) use denials::denies_everything;
pub(crate) use outcomes::{outcome_claim_in, tells_outcome};
pub(crate) use tool_names::families_of;
pub(crate) use tool_uses::tool_uses;
