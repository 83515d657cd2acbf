//! Web tools: fetching pages from public addresses and nowhere else.

mod address;
mod body;
mod exchange;
mod fetch;
mod markdown;
mod resolve;
mod target;
mod tls;
mod tools;

pub use address::{Reserved, reserved};
pub use resolve::{Resolver, SystemResolver};
pub use tls::{TlsError, trusted_tls};
pub use tools::WebTools;
