//! Renders the same two transcripts in every format.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod baseline;
mod formats;
mod scene;
mod schemas;
