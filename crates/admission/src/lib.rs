//! What a call must satisfy before it runs. Used by guards, by `counterfoil validate`, and by the
//! rules that check recorded calls.
//!
//! [`Admission`] holds the catalog and finds the issues of one call: its name, its arguments
//! ([`Schema`]), lossless corrections, and values without a known origin, for which it asks a
//! [`Context`]. [`Fixation`] detects repeated calls, [`Corrections`] and [`rejection`] produce the
//! answers to a model, and [`lint`] checks the tools themselves.
//!
//! Pure and synchronous. Deliberately not here: whether a call may run, what has been recorded, and
//! what an agent says.
//!
//! Start with [`Admission`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod admission;
mod answer;
mod catalog_lint;
mod context;
mod dialect;
mod fan;
mod fixation;
mod fixation_options;
mod issue;
mod leaves;
mod needle;
mod options;
mod placeholder;
mod plain;
mod reference;
mod rejections;
mod repair;
mod report;
mod schema;
mod shape;
mod violation;

pub use admission::{Admission, AdmissionSettings};
pub use answer::{Corrections, CorrectionsUsedUp, last_rejection_text, rejection, rejection_text};
pub use catalog_lint::{CatalogIssue, lint};
pub use context::Context;
pub use fixation::{
    Ending, Fixation, FixationEvent, FixationKind, FixationSettings, Step, StreakInfo,
};
pub use fixation_options::{FixationOptions, FixationOptionsError, SHELL_OUTPUT};
pub use issue::{Issue, IssueSeverity, code};
pub use needle::{Needle, needles};
pub use options::AdmissionOptions;
pub use rejections::{Rejection, RejectionCounts, RejectionLog};
pub use repair::{similar_name, writings};
pub use report::CallReport;
pub use schema::{Remotes, Schema, SchemaError};
pub use violation::{Breach, Violation};
