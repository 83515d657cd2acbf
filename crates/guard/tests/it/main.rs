//! What the guard promises, from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod audit;
mod blocklist;
mod chain;
mod composite;
mod delegation;
mod desk;
mod doors;
mod faults;
mod function;
mod gates;
mod ledger;
mod live;
mod redact;
mod retry;
mod shell;
mod shell_chain;
mod stage;
mod taxonomy;
