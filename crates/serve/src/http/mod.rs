//! MCP over streamable HTTP: clients with a session, and clients without.

mod access;
mod gateway;
mod metrics;
mod response;

pub use access::{Access, AccessError};
pub use gateway::{HttpGateway, HttpGatewayError, Limits, serve_http};
