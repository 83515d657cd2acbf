//! MCP over streamable HTTP, for clients with and without a session.

mod access;
mod gateway;
mod listen;
mod metrics;
mod response;

pub use access::{Access, AccessError, Counted};
pub use gateway::{HttpGateway, HttpGatewayError, Limits, serve_http};
pub use listen::{Listening, listen};
pub(crate) use response::{Answer, answer};
