//! Redaction, tested from outside.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod disguises;
mod redact;
