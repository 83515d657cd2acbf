//! Renders findings, verdicts and receipts.
//!
//! Pure: everything is rendered to a `String`, one transcript at a time, so the largest session
//! bounds the memory. Deliberately not here: decisions, printing, files, rules.
//!
//! Start with [`ReportFormat`], the table of formats, then [`Checked`] and [`Renderer`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod baseline;
mod checked;
mod excerpt;
mod fingerprint;
mod format;
mod message;
mod record;
mod renderer;
mod severities;
mod statistics;
mod summary;
mod visible;

pub use baseline::{Baseline, BaselineError, KnownFinding};
pub use checked::{Accepted, Checked, Claims, Unread};
pub use fingerprint::{Fingerprint, conversation_of};
pub use format::ReportFormat;
pub use record::SCHEMA_VERSION;
pub use renderer::{Document, Fragment, Look, Renderer, RuleCard};
pub use severities::Severities;
pub use statistics::{Statistics, Tally};
pub use summary::{Comparison, Judged, ProblemAt, Summary, counted};
pub use visible::{
    is_unseen, json_line, json_pretty, shorten, visible, visible_output, visible_piped,
};
