//! Tables of command lines and outputs, and what the crate says about them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

mod activities;
mod commands;
mod outputs;
mod powershell;
mod robustness;
mod writes;
