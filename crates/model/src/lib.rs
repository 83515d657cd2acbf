//! The shared vocabulary: tools, calls, transcripts, claims, findings, receipts.
//!
//! The crates above exchange these types: readers of foreign logs produce a [`Transcript`], rules
//! judge it and produce [`Finding`]s, reports show them.
//!
//! Deliberately not here: I/O, async, clock, randomness, regular expressions, logging, and any
//! opinion about what is right or wrong.
//!
//! Start with [`Transcript`], then [`Claim`] and [`Finding`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod agent;
mod call;
mod canonical;
mod claim;
mod command_result;
mod digest;
mod exact;
mod execution_id;
mod failure;
mod family;
mod finding;
mod hidden;
mod json;
mod receipt;
mod span;
mod tool;
mod transcript;

pub use agent::Agent;
pub use call::{Arguments, Outcome, ToolCall};
pub use canonical::{CanonicalForm, canonical_bytes, canonical_bytes_of, canonical_text};
pub use claim::{
    ActReading, Claim, ClaimKind, ClauseReading, Judgement, NamedReading, Object, ObjectKind,
};
pub use command_result::exit_code_of;
pub use digest::Digest;
pub use exact::ExactValue;
pub use execution_id::{ExecutionId, execution_ids};
pub use failure::ToolErrorCategory;
pub use family::Family;
pub use finding::{
    CallRef, Code, Confidence, Evidence, EvidenceSource, Finding, Grade, JudgeNote, Mode, Severity,
    Subject, Verdict,
};
pub use hidden::{
    HIDDEN, is_hidden, names_hidden, take_hidden_out, without_hidden, without_hidden_arguments,
    without_hidden_members, without_hidden_parameters,
};
pub use json::{JsonError, JsonLimits, LossyText, WrongJson, in_plain_words, parse_strict};
pub use receipt::{BackgroundRun, Confinement, PermitBasis, RecordedReceipt, SideEffect, Status};
pub use span::Span;
pub use tool::{Catalog, Effects, Origin, Presentation, Tool};
pub use transcript::{Completeness, Format, Gap, Message, MessageKind, Problem, Role, Transcript};
