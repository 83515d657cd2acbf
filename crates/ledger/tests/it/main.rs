//! What the ledger and the audit log promise, from outside.
#![expect(clippy::panic, reason = "a test may fail")]

mod audit;
mod ledger;
