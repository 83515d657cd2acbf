//! MCP over streamable HTTP: clients with a session, and clients without.

mod access;
mod gateway;
mod listen;
mod metrics;
mod response;

pub(crate) use access::Counted;
pub use access::{Access, AccessError};
pub use gateway::{HttpGateway, HttpGatewayError, Limits, serve_http};
pub(crate) use listen::{Listening, listen};
pub(crate) use response::{Answer, answer};
