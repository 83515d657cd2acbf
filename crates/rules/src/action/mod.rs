//! Finds claims of completed side effects in the text and judges them against the record. FK010 and
//! FK012 report the results.

mod denied;
mod elsewhere;
mod extract;
mod family;
mod fit;
mod judge;
mod named;
mod no_act;
mod objects;
mod search;
mod several;
mod support;
mod told_act;
mod words;

pub(crate) use denied::{DeniedAct, denied_act, left_alone};
pub(crate) use extract::{ActionClaim, action_claims};
pub(crate) use family::is_start;
pub(crate) use judge::{ActionVerdict, judge};
pub(crate) use objects::{mentions, objects_in};
pub(crate) use support::is_supported;
#[cfg(test)]
pub(crate) use told_act::reasons;
pub(crate) use told_act::{Read, told_acts};
