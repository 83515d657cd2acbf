//! Filters the output of commands for the agent: less progress output, and every line about a
//! problem.
//!
//! There is one filter per command family, in `filters/`: a TOML file each and a line in the table.
//! The pipeline selects the filters for a command line and checks each result: a filter that would
//! lose a line that must stay counts as failed, and the text is passed on unchanged.

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

/// Rewrites the output of a command for the agent, and rates how well it recognised it.
///
/// There are no default methods. A filter works on lines, and keeps the lines that it keeps
/// unchanged. It need not check for lines that must stay ([`is_preserved`]): if it drops one, it
/// counts as failed and its result is not used.
pub trait Filter: Send + Sync + fmt::Debug {
    /// Its name in receipts, metrics and configuration.
    fn id(&self) -> FilterId;
    /// Matches the commands whose output it recognises.
    fn matchers(&self) -> &[CommandMatcher];
    /// Filters a text.
    fn apply(&self, text: &str, call: &FilterCall<'_>) -> Filtered;
}

/// The name of a filter.
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

/// What a filter knows about the call.
#[derive(Debug, Clone, Copy)]
pub struct FilterCall<'c> {
    /// The commands whose output the text contains: program and arguments, separated by single
    /// blanks.
    pub commands: &'c [String],
    /// Whether the call failed: then nothing is left out only because of its length.
    pub failed: bool,
}

/// The result of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// The text.
    pub text: String,
    /// How well the filter recognised the text.
    pub confidence: FilterConfidence,
    /// The number of lines left out.
    pub left_out: usize,
}

/// How well filters recognised a text, in descending order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FilterConfidence {
    /// A line of the output shows that it has the expected form.
    Full,
    /// Only the command is known: no line shows the form of its output, or the filter knows none.
    Partial,
    /// No filter recognises it, or one failed: the text is unchanged.
    Fallback,
}
