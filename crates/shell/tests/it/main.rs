//! What the crate says about command lines and outputs, as tables.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

mod activities;
mod commands;
mod outputs;
mod robustness;
mod writes;
