//! Tests of the rules, from outside.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking and prints what it measured"
)]

mod call_recorded;
mod datasets;
mod dialogue;
mod growth;
mod not_checkable;
mod pages;
mod since;
mod upshots;
