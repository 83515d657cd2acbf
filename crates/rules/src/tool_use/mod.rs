//! Tools and sources that an answer says it used: named ones (FK014) and unnamed ones (FK016).

mod listed;
mod mention;
mod record;

pub(crate) use mention::{Mention, mentions};
pub(crate) use record::{
    Known, Names, Used, is_talked_about, known, retrieved, same, shares_topic, used,
};
