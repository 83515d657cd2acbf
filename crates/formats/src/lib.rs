//! Other people's formats: readers for agent logs and tool lists.
//!
//! Every reader turns one log format into [`counterfoil_model::Transcript`]s. A line or a field
//! that is not understood is never fatal: it is counted in `Transcript::skipped` or reported as a
//! problem, and reading continues.
//!
//! Deliberately not here: judging what is right or wrong, opening files, and any memory of earlier
//! input.
//!
//! Start with [`read`]; the table of readers is in `reader/mod.rs`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod archive;
mod blocks;
mod content;
mod decompress;
mod detect;
mod documents;
mod ending;
mod evaluations;
mod exchange;
mod fields;
mod gemini_parts;
mod lenient;
mod lines;
mod log_name;
mod log_reader;
mod near;
mod other_kind;
mod otlp;
mod outcome_text;
mod parts;
mod read;
mod reader;
mod reading;
mod receipts;
mod responses_item;
mod session;
mod sketch;
mod source;
mod span_dialects;
mod time;
mod tool_calls;
mod tools;
mod written;

pub use decompress::decompressed;
pub use lenient::{mended_json, read_lenient, read_lenient_exact};
pub use log_name::{log_name, looks_like_a_log};
pub use read::{Options, Summary, read};
pub use reading::{ReadError, Reading};
pub use tools::{ToolListError, read_tools};
