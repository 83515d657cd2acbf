//! The ledger on PostgreSQL, written by several replicas: the same events, chain, tree and
//! signatures.

mod address;
mod changes;
mod definitions;
mod insert;
mod link;
mod linked;
mod lookups;
mod migrate;
mod open;
mod pause;
mod read;
mod retention;
mod schema;
mod store;
mod tables;
mod tls;
mod turn;
mod writer;

pub use address::{PostgresAddress, PostgresAddressError};
pub use store::PostgresLedger;
