//! The configuration: files found and read, variables over them, the whole checked.

mod find;
mod layer;
mod mcp_options;
mod migrate;
mod options;
mod origin;
mod read;
mod schema;
mod show;
mod trust;
mod unbuilt;
mod usable;
mod variables;

pub(crate) use find::{
    Files, Place, beyond, find, find_without_broken_project, nearest_file, pasted, project_file,
    user_file, user_folder,
};
pub(crate) use mcp_options::{ListenOptions, ServerOptions};
pub(crate) use migrate::{Migration, migrate};
pub(crate) use options::{CheckOptions, ObligationOptions, Options};
pub(crate) use schema::schema;
pub(crate) use show::show;
pub(crate) use trust::{revoke, trust};
