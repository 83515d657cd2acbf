//! Hooks for coding agents, as a user of the crate meets them.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod canary;
mod plugin;
mod servers;
mod settings;
