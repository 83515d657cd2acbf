//! Executions that the agent cites: structured tool claims and execution ids in its texts, each
//! compared with the recorded executions, and tool traffic printed as text.
//!
//! Deliberately not here: prose. "I ran the tests" is a claim for other rules.

mod compare;
mod fault;
mod fences;
mod judge;
mod known;
mod literal;
mod mention;
mod presented;
mod printed;
mod rules;
mod stated;
mod title;
mod traffic;
mod traffic_line;

pub(crate) use fault::Citation;
pub(crate) use printed::simulations;
pub(crate) use rules::RULES;
pub use stated::{CitedExecutions, cited_executions};
