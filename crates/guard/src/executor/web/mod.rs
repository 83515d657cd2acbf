//! The web: fetching what lies at a URL, from public addresses and nowhere else.

mod address;
mod body;
mod egress;
mod exchange;
mod executor;
mod fetch;
mod markdown;
mod options;
mod resolve;
mod target;
mod tls;

pub use address::{Reserved, reserved};
pub use egress::Egress;
pub use executor::WebExecutor;
pub use options::{WebOptions, WebOptionsError, WebSettings};
pub use resolve::{Resolver, SystemResolver};
pub use tls::{TlsError, trusted_tls};
