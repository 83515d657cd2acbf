//! Tools and sources that an answer says it used: named ones (FK014) and unnamed ones (FK016).

mod at_hand;
mod failed_look_up;
mod listed;
mod mention;
mod no_call;
mod not_run;
mod own_search;
mod own_work;
mod record;
mod run_before;
mod unread;

pub(crate) use failed_look_up::failed_look_ups;
pub(crate) use mention::{Mention, mentions};
pub(crate) use own_search::searches_only_files;
pub(crate) use own_work::unmade_work;
pub(crate) use record::{
    Known, Names, Used, is_talked_about, known, retrieved, same, shares_topic, used,
};
