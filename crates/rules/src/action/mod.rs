//! Finds claims of completed side effects in the text and judges them against the record. FK010 and
//! FK012 report the results.

mod elsewhere;
mod extract;
mod family;
mod fit;
mod judge;
mod named;
mod no_act;
mod objects;
mod report_form;
mod reported_act;
mod search;
mod several;
mod support;
mod unseen;
mod verdict;
mod when;
mod words;

#[cfg(test)]
pub(crate) use extract::reasons;
pub(crate) use extract::{ActionClaim, Read, reported_acts};
pub(crate) use family::is_start;
pub(crate) use judge::actions;
pub(crate) use objects::{mentions, objects_in, shape};
pub(crate) use support::is_supported;
pub(crate) use verdict::{ActionVerdict, NOT_OWN};
pub(crate) use words::stem;
