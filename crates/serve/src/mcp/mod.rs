//! The Model Context Protocol over standard input and output, one JSON-RPC message a line.

mod confirm;
mod gateway;
mod lines;
mod members;
mod message;
mod relay;
mod server;
mod stdio;
mod tools;

pub use gateway::{Gateway, GatewayError, Step};
pub use relay::{Ended, RelayError, relay};
pub use server::serve;
pub use stdio::{input, output};
