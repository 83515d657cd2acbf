//! Other people's formats: readers for agent logs and tool lists.
//!
//! Deliberately not here: an opinion about what is right or wrong.
