//! Tools that an answer says it used, for FK014.

mod listed;
mod mention;
mod record;

pub(crate) use mention::{Mention, mentions};
pub(crate) use record::{Known, Names, Used, is_talked_about, known, same, used};
