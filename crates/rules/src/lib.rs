//! Finds what is wrong in a [`counterfoil_model::Transcript`], by call rules and claim rules.
//!
//! Pure and synchronous: the same transcript gives the same findings in the same order.
//! Deliberately not here: I/O, async, any vendor's format, and what a call must satisfy, which is
//! in `counterfoil-admission`.
//!
//! Start with [`check`]. The rules are in two tables, `claims::RULES` and `call::RULES`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

#[macro_use]
mod prose;
#[macro_use]
mod facts;

mod action;
mod call;
mod check;
mod citation;
mod claims;
mod feedback;
mod findings;
mod meta;
mod obligation;
mod outcome;
mod registry;
mod report;
mod rule;
mod settings;
mod tool_use;
mod values;
mod why;

/// Instructions for an agent's system prompt, in Markdown. An agent that follows them makes claims
/// that can be checked.
pub const PROTOCOL: &str = include_str!("../protocol.md");

pub use check::{Indexed, check, check_from};
pub use citation::{CitedExecutions, cited_executions};
pub use counterfoil_admission::{AdmissionSettings, FixationSettings};
pub use facts::{LONGEST_ANSWER, Upshot};
pub use feedback::{
    FEEDBACK_TO_AN_AGENT, feedback, is_feedback, set_aside_feedback, set_feedback_aside,
};
pub use meta::{Group, Meta};
pub use obligation::{Obligation, ObligationError};
pub use prose::Fence;
pub use registry::rules;
pub use report::{Counts, Report};
pub use rule::Rule;
pub use settings::Settings;
