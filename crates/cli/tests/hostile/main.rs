//! The attacks of a hostile model, repository or log, each attempted with the real binary. One file
//! per kind.
//!
//! `BINARY=$PWD/target/release/counterfoil cargo test -p counterfoil --features long-tests --test
//! hostile`: minutes, and some attempts are timed, so only on request and with an optimised binary.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the binary is started, and processes attacked")]

mod commands;
mod configuration;
mod events;
mod output;
mod places;
mod runs;
mod sandbox;
mod schemas;
mod stage;
mod time;
