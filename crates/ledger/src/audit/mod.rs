//! What was called, by whom, and how it ended: a chain of lines that nobody can change unseen.
//!
//! [`AuditLog`] writes; everything else only reads. A line carries the digest of the line before
//! and its own, so that a changed, removed or swapped line is found; what was cut off at the end
//! is found against a [checkpoint](AuditHead) that somebody kept.

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
