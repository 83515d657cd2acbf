//! Tests of admission through its public interface.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking and prints what it measured"
)]

mod admission;
mod datasets;
mod gold;
mod odd_schemas;
mod schema_suite;
