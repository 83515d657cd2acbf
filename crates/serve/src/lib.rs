//! Counterfoil as a server process: MCP gateway, tool server, dashboard and witness.
//!
//! [`Gateway`] sits between an MCP client and one server: tool calls are validated, judged and
//! recorded by a guard, and everything else passes unchanged. [`relay`] runs it over standard input
//! and output ([`input`], [`output`]) in front of a server that it starts, [`relay_to`] in front of
//! any [`Server`], and [`serve_http`] for clients over HTTP. [`McpExecutor`] offers the tools of a
//! server as tools of a guard; [`serve`] offers a guard's own tools as a server.
//! [`serve_dashboard`] shows the ledger, and [`serve_witness`] stores and cosigns the checkpoints
//! of ledgers. [`listen`] and [`Access`] accept connections and control access, here and in other
//! crates.
//!
//! Deliberately not here: what is right or wrong, and what may run, which `counterfoil-rules` and
//! `counterfoil-guard` decide; and the proxy between an agent and its model, which is
//! `counterfoil-proxy`.
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
#[cfg(feature = "otel")]
pub mod spans;
mod streams;
mod upstream;
mod witness;

pub use client::{
    ClientError, ClientOptions, Elicits, McpExecutor, McpExecutorError, Offer, inspect,
};
pub use dashboard::{
    AccessToken, Dashboard, DashboardParts, PolicyRead, PolicySource, Role, ServeError,
    serve_dashboard,
};
pub use http::{
    Access, AccessError, Counted, HttpGateway, HttpGatewayError, Limits, Listening, listen,
    serve_http,
};
pub use mcp::{
    Ended, Gateway, GatewayError, GreetingChange, PinStore, Pins, PinsError, RelayError, Step,
    StoreOf, ToolChange, input, is_unseen, oddities, output, relay, serve, shown_members,
    unchecked_arguments,
};
pub use streams::relay_to;
pub use upstream::{
    NamedServer, Program, Remote, RemoteError, Server, Servers, UpstreamError, VariableError,
    not_set, with_variables,
};
pub use witness::{AskWitnessError, WitnessAnswer, ask_witness, latest_witnessed, serve_witness};
