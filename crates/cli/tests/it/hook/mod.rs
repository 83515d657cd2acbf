//! Hooks of coding agents, called as the agents call them: one process per event.

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
