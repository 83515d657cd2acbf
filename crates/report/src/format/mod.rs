//! The formats, one file each. They do not import each other; shared code is in the parent module.

mod csv;
mod github;
mod html;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod sarif;
mod text;

pub(crate) use csv::Csv;
pub(crate) use github::Github;
pub(crate) use html::Html;
pub(crate) use json::Json;
pub(crate) use jsonl::Jsonl;
pub(crate) use junit::Junit;
pub(crate) use markdown::Markdown;
pub(crate) use sarif::Sarif;
pub(crate) use text::Text;
