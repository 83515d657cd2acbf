use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// One network request that a call sent, or that was blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Egress {
    /// The host and the port; empty where the URL names none.
    pub host: String,
    /// The address of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The method.
    pub method: String,
    /// The status of the response; `None` without one.
    pub status: Option<u16>,
    /// The size of the response body in bytes, as received.
    pub bytes: u64,
    /// Why nothing was sent; `None` if something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}
