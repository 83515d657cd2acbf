//! Counterfoil as a process that others talk to.
//!
//! [`Gateway`] stands between an MCP client and one server: tool calls are validated, judged and
//! recorded by a guard, and everything else passes as it is. [`relay`] runs it over standard input
//! and output ([`input`], [`output`]) in front of a server that it starts, [`relay_to`] in front of
//! any [`Server`], and [`serve_http`] for clients over HTTP. [`McpExecutor`] makes the tools of a
//! server tools of a guard; [`serve`] offers a guard's own tools as a server. [`serve_witness`] keeps and cosigns what ledgers
//! signed.
//!
//! Deliberately not here: what is right or wrong, and what may run. `counterfoil-rules` and
//! `counterfoil-guard` decide that.
//!
//! Start with [`Gateway`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod aggregate;
mod api;
mod client;
mod connection;
mod dashboard;
mod http;
mod mcp;
mod proxy;
#[cfg(feature = "otel")]
pub mod spans;
mod streams;
mod upstream;
mod witness;

pub use aggregate::{NamedServer, Servers};
pub use client::{
    ClientError, ClientOptions, Elicits, McpExecutor, McpExecutorError, Offer, inspect,
};
pub use dashboard::{
    AccessToken, Dashboard, DashboardParts, PolicyRead, PolicySource, Role, ServeError,
    serve_dashboard,
};
pub use http::{Access, AccessError, HttpGateway, HttpGatewayError, Limits, serve_http};
pub use mcp::{
    Ended, Gateway, GatewayError, PinStore, Pins, PinsError, RelayError, Step, ToolChange, input,
    oddities, output, relay, serve,
};
pub use proxy::{
    KeyProvider, Least, OnTimeout, Proxy, ProxyError, ProxyMode, ProxyOptions, ProxyOptionsError,
    ProxySettings, VirtualKeyOptions, serve_proxy, tls_of,
};
pub use streams::relay_to;
pub use upstream::{Program, Remote, RemoteError, Server, UpstreamError};
pub use witness::{AskWitnessError, WitnessAnswer, ask_witness, latest_witnessed, serve_witness};
