//! Claims of completed side effects: finding them in the text, and judging them against the
//! record. FK010 and FK012 report what comes out.

mod behind_ids;
mod denied;
mod denied_run;
mod each;
mod extract;
mod family;
mod fit;
mod instead;
mod judge;
mod left_alone;
mod made_good;
mod matter;
mod named;
mod no_act;
mod objects;
mod otherwise;
mod search;
mod state;
mod support;
mod tie;
mod told_act;
mod unspent;
mod word_stem;

pub(crate) use denied::{DeniedAct, denied_act};
pub(crate) use denied_run::run_denied;
pub(crate) use extract::{ActionClaim, action_claims};
pub(crate) use judge::{ActionVerdict, judge};
pub(crate) use left_alone::{left_alone, same_as_before};
pub(crate) use objects::{mentions, objects_in};
pub(crate) use support::is_supported;
#[cfg(test)]
pub(crate) use told_act::reasons;
pub(crate) use told_act::{Read, told_acts};
pub(crate) use unspent::{Purpose, is_named_after, may_be_unspent};
