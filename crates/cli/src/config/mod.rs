//! The configuration: files found and read, variables over them, the whole checked.

mod find;
mod layer;
mod migrate;
mod options;
mod read;
mod schema;
mod show;
mod unbuilt;
mod usable;
mod variables;

pub(crate) use find::{Place, find, nearest_file};
pub(crate) use migrate::{Migration, migrate};
pub(crate) use options::{CheckOptions, ObligationOptions, Options};
pub(crate) use schema::schema;
pub(crate) use show::show;
