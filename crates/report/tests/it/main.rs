//! What every format makes of the same two transcripts.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod baseline;
mod formats;
mod scene;
mod schemas;
