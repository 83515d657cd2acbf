//! Everything about one tool call before it runs, and the call rules in one table.

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
mod recorded;
mod reference;
mod rejections;
mod repair;
mod report;
mod rules;
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
pub use issue::{Issue, IssueSeverity};
pub use options::AdmissionOptions;
pub(crate) use recorded::Admissions;
pub use rejections::{Rejection, RejectionCounts, RejectionLog};
pub use report::CallReport;
pub(crate) use rules::RULES;
pub use schema::{Breach, Remotes, Schema, SchemaError, Violation};
