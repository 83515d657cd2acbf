//! The configuration: found, read, checked, layered.

mod find;
mod options;
mod read;

pub(crate) use find::{Place, find};
pub(crate) use options::{CheckOptions, Options};
pub(crate) use read::schema;
