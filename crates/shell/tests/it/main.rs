//! What the crate says about command lines and outputs, as tables.

mod activities;
mod commands;
mod outputs;
mod robustness;
mod writes;
