//! MCP over streamable HTTP: clients with a session, and clients without.

mod answer;
mod counts;
mod door;
mod face;

pub use door::{Door, DoorError};
pub use face::{Face, FaceError, Limits, serve_http};
