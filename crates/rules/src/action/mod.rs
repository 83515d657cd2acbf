//! Claims of completed side effects: finding them in the text, and judging them against the
//! record. FK010 and FK012 report what comes out.

mod as_wished;
mod behind_ids;
mod denied;
mod denied_run;
mod described;
mod each;
mod extract;
mod failed_by_name;
mod family;
mod fit;
mod good_news;
mod idiom;
mod instead;
mod judge;
mod left_out;
mod listed_file;
mod made_good;
mod matter;
mod named_code;
mod no_act;
mod objects;
mod otherwise;
mod rows;
mod state;
mod tie;
mod told_file;
mod uncalled_by_name;
mod unheard_name;
mod unknown_document;
mod unwritten_file;
mod writing;

pub(crate) use as_wished::as_wished;
pub(crate) use denied::{DeniedAct, denied_act, left_alone, same_as_before};
pub(crate) use denied_run::{run_denied, try_denied};
pub(crate) use extract::{ActionClaim, action_claims};
pub(crate) use failed_by_name::failed_by_name;
pub(crate) use judge::{ActionVerdict, judge};
pub(crate) use left_out::count_left_out;
pub(crate) use listed_file::listed_files;
pub(crate) use named_code::unwritten_names;
pub(crate) use objects::{mentions, objects_in};
pub(crate) use told_file::told_files;
pub(crate) use uncalled_by_name::uncalled_by_name;
pub(crate) use unknown_document::unknown_documents;
pub(crate) use unwritten_file::unwritten_files;
