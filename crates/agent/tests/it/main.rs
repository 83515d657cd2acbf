//! An agent whose model is a script.
#![expect(clippy::unwrap_used, reason = "a test says what it expects")]

mod compress;
mod delegate;
mod memory;
mod scheduler;
mod script;
mod turns;
