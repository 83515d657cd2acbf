//! Tests of the hooks through the public API.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod canary;
mod plugin;
mod servers;
mod settings;
