//! The guarantees of the ledger and the audit log, tested from outside.
#![expect(clippy::panic, reason = "a test may fail")]

mod audit;
mod ledger;
