//! Tests of cases, opinions and their assessment.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod any_reply;
mod cases;
mod findings;
mod hostile;
mod joint;
mod kept;
mod replay;
mod scene;
