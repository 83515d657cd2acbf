//! The configuration: finds and reads files, applies variables, and checks the result.

mod find;
mod judge_options;
mod layer;
#[cfg(feature = "guard")]
mod mcp_options;
#[cfg(feature = "guard")]
mod migrate;
#[cfg(feature = "guard")]
mod named;
mod options;
mod origin;
#[cfg(feature = "guard")]
mod own;
mod place;
mod read;
mod schema;
mod sections;
#[cfg(feature = "guard")]
mod show;
mod trust;
mod unbuilt;
#[cfg(feature = "guard")]
mod usable;
mod variables;

#[cfg(feature = "guard")]
pub(crate) use find::Configuration;
pub(crate) use find::{beyond, find};
#[cfg(feature = "guard")]
pub(crate) use find::{find_without_broken_project, pasted};
pub(crate) use judge_options::JudgeOptions;
#[cfg(feature = "guard")]
pub(crate) use mcp_options::{ListenOptions, ServerOptions};
#[cfg(feature = "guard")]
pub(crate) use migrate::{Migration, migrate};
#[cfg(feature = "guard")]
pub(crate) use named::names_exist;
pub(crate) use options::{CheckOptions, ObligationOptions, Options};
#[cfg(feature = "guard")]
pub(crate) use own::set_judge;
pub(crate) use place::{Files, Place, project_file};
#[cfg(feature = "guard")]
pub(crate) use place::{nearest_file, user_file, user_folder};
#[cfg(feature = "guard")]
pub(crate) use schema::schema;
#[cfg(feature = "guard")]
pub(crate) use show::show;
pub(crate) use trust::{is_trusted, revoke, trust};
#[cfg(test)]
pub(crate) use variables::OF_FLAGS;
