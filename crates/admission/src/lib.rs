//! What a call must satisfy before it runs: for guards, for `counterfoil validate`, and for the call
//! rules, which hold recorded calls against the same.
//!
//! [`Admission`] knows the tools and says of one call what is wrong with it: its name, its arguments
//! ([`Schema`]), what can be corrected without loss, and values that come from nowhere, for which it
//! asks a [`Context`]. [`Fixation`] notices that calls repeat themselves, [`Corrections`] and
//! [`rejection`] are what a model is told, [`lint`] is about the tools themselves.
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
mod reference;
mod rejections;
mod repair;
mod report;
mod schema;
mod shape;

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
pub use report::CallReport;
pub use schema::{Breach, Remotes, Schema, SchemaError, Violation};
