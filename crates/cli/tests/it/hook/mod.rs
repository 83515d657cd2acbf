//! Hooks of coding agents, driven as the agents drive them: one process an event.

mod bounds;
mod daily;
mod false_claims;
mod faults;
mod honest;
mod judge;
mod long;
mod many;
mod others;
mod recorded;
mod stage;
mod tools;
