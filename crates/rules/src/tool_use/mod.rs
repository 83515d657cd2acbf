//! Tools that an answer says it used, for FK014.

mod listed;
mod mention;
mod names;
mod record;
mod thing;

pub(crate) use mention::{Mention, mentions};
pub(crate) use names::{Names, same};
pub(crate) use record::{Known, Used, is_like_called, is_talked_about, known, used};
