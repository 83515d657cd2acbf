//! Tests of the guard's guarantees, from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod answer_judge;
mod cache;
mod chain;
mod changed;
mod composite;
mod corpus;
mod delegation;
mod desk;
mod doors;
mod events;
mod everyday;
mod faults;
mod files;
mod filters;
mod function;
mod gates;
mod host;
mod in_force;
mod live;
mod numbers;
mod offer;
mod offer_pages;
mod overflow;
mod reformat;
mod repeated;
mod retry;
#[path = "../../../ledger/tests/it/ledger/postgres/server.rs"]
#[expect(dead_code, clippy::disallowed_methods, reason = "the tests of the ledger use all of it")]
mod server;
mod shell;
mod shell_chain;
mod speculation;
mod stage;
mod taxonomy;
mod transactions;
mod web;
mod words_embedder;
