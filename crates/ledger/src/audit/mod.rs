//! The audit log: a chain with one line per call, in which changes are detected.
//!
//! [`AuditLog`] writes; everything else only reads. A line carries its own digest and that of the
//! line before, so changed, removed or swapped lines are found. Lines cut off at the end are found
//! only by comparison with a [checkpoint](AuditHead) kept elsewhere.

mod clean;
mod egress;
mod entry;
mod error;
mod file;
mod growing;
mod line;
mod log;
mod query;
mod read;
mod settings;
mod source;
mod stats;
mod tail;
mod verify;

pub use egress::Egress;
pub use entry::{AuditEntry, AuditResult, ExitCode};
pub use error::{AppendAuditError, OpenAuditError};
pub use line::{AuditHead, AuditLine, LineError};
pub use log::AuditLog;
pub use query::AuditFilter;
pub use read::{AuditFiles, AuditProblem, ReadAuditError, Reading};
pub use settings::{AuditOptions, AuditSettings, OnFailure};
pub use stats::AuditStats;
pub use tail::tail as tail_audit;
pub use verify::{AuditVerification, Compared, verify_audit};
