//! What a schedule promises, from outside.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod daylight_saving;
mod described;
mod phrases;
mod soup;
mod stored;
mod understood;
