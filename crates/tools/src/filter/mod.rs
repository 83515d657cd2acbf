//! What the agent sees of what a command printed: less of what is only progress, and every line
//! that says that something is wrong.
//!
//! One filter a command family, in `filters/`: one TOML file each and one line in its table. The
//! pipeline finds out which filters a command line needs, and checks each of them: one that would
//! lose a line that must stay counts as failed, and the text passes on as it was.

mod commands;
mod declared;
mod filters;
mod lines;
mod matcher;
mod metrics;
mod options;
mod pipeline;
mod preserved;
mod repeats;
mod terminal;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use commands::shown_commands;
pub use declared::{Cut, DeclaredFilter, FilterDeclaration, FilterDeclarationError};
pub use matcher::CommandMatcher;
pub use metrics::{FilterCounts, FilterMetrics};
pub use options::{FilterOptions, FilterOptionsError, FilterSettings};
pub use pipeline::{FilterPipeline, Piped};
pub use preserved::is_preserved;

/// Rewrites what the agent will see of a command's output, and says how sure it is of that.
///
/// No default bodies. A filter works on lines: what it keeps, it keeps as it stands. It need not
/// care for lines that must stay ([`is_preserved`]): one that drops them has failed, and the text
/// passes on without it.
pub trait Filter: Send + Sync + fmt::Debug {
    /// Its name in receipts, metrics and configuration.
    fn id(&self) -> FilterId;
    /// The commands whose output it knows.
    fn matchers(&self) -> &[CommandMatcher];
    /// The text with less in it.
    fn apply(&self, text: &str, call: &FilterCall<'_>) -> Filtered;
}

/// A filter's name.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FilterId(pub String);

impl fmt::Display for FilterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a filter may know of the call.
#[derive(Debug, Clone, Copy)]
pub struct FilterCall<'c> {
    /// The commands whose output stands in the text: program and arguments, one blank between.
    pub commands: &'c [String],
    /// It failed: then nothing is left out for its length alone.
    pub failed: bool,
}

/// What a filter made of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// The text.
    pub text: String,
    /// How well the filter knew what it read.
    pub confidence: FilterConfidence,
    /// How many lines are missing.
    pub left_out: usize,
}

/// How well filters knew what they read; ordered, the worst last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FilterConfidence {
    /// The output has the form that it should have.
    Full,
    /// The command is known, its output is not what it should be: only progress is left out.
    Partial,
    /// No filter knows it, or one failed: the text is as it was.
    Fallback,
}
