//! What a session did: its calls and results as typed facts, each with a reference to its source.
//!
//! [`Record::new`] reads a transcript once; [`Record::up_to`] returns the [`Facts`] known before one
//! message, and [`Facts::sheet`] prints them as short English lines.
//!
//! Deliberately not here: I/O, async, clock, randomness, prose, and judging what an agent says.
//!
//! ```
//! use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};
//! use counterfoil_record::Record;
//!
//! let mut transcript = Transcript::new("t", Format::OpenaiChat);
//! let call = ToolCall::new("1", "bash", r#"{"command": "cargo test -p api"}"#);
//! let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
//! let outcome = Outcome { call_id: "1".into(), exit_code: Some(101), ..Outcome::default() };
//! let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
//! transcript.messages = vec![calls, results, Message::text(Role::Assistant, "All tests pass.")];
//!
//! let record = Record::new(&transcript);
//! let sheet = record.up_to(2).sheet();
//! assert!(sheet.iter().any(|line| {
//!     line.text == "tests: `cargo test -p api` (R1, partial: `-p api`) ended with status 101"
//! }));
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod arguments;
mod call;
mod decimal;
mod execution;
mod facts;
mod failure;
mod file;
mod line;
mod list;
mod lists;
mod members;
mod record;
mod run;
mod sheet;
mod status;
mod terms;
mod value;

pub use call::Call;
pub use decimal::Decimal;
pub use execution::{Execution, executions, marked};
pub use facts::{Check, Delegation, Facts};
pub use failure::{Failure, LONGEST_STATUS, failure_in, only_complains};
pub use file::{FileChange, FileEffect, is_documentation};
pub use line::{Chunk, Label, Line, LineKind};
pub use list::ListLength;
pub use lists::names_shell;
pub use record::Record;
pub use run::{
    CheckKind, Coverage, Output, Report, Run, RunEnd, RunKind, Started, is_missing, prints_itself,
};
pub use sheet::{CheckState, FactKind, FactLine};
pub use status::{CallStatus, failure_openings, status_by_opening};
pub use terms::terms;
pub use value::{Value, ValueKind, values};
