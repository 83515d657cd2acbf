use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// One request that left, or was held back: a line of the audit log has those of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Egress {
    /// The host and the port; empty where the URL names none.
    pub host: String,
    /// The address that was connected to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The method.
    pub method: String,
    /// The status of the answer; `None` where none came.
    pub status: Option<u16>,
    /// Bytes of the answer's body, as they came.
    pub bytes: u64,
    /// Why nothing was sent; `None` where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}
