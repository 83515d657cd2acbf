//! Values used both on the command line and in the configuration.

#[cfg(feature = "guard")]
use clap::Args;
use clap::ValueEnum;
use counterfoil_model::{Mode, Severity};
use counterfoil_report::ReportFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output format.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutputFormat {
    /// For people: excerpts with the claim underlined.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for test reports.
    Junit,
    /// Annotations for a GitHub workflow.
    Github,
    /// Markdown, for a comment on a pull request.
    Markdown,
    /// One page for a browser.
    Html,
    /// One row per finding, for spreadsheets.
    Csv,
}

impl From<OutputFormat> for ReportFormat {
    fn from(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Text => Self::Text,
            OutputFormat::Json => Self::Json,
            OutputFormat::Jsonl => Self::Jsonl,
            OutputFormat::Sarif => Self::Sarif,
            OutputFormat::Junit => Self::Junit,
            OutputFormat::Github => Self::Github,
            OutputFormat::Markdown => Self::Markdown,
            OutputFormat::Html => Self::Html,
            OutputFormat::Csv => Self::Csv,
        }
    }
}

/// The severity of a finding.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// For information.
    #[default]
    Note,
    /// Suspicious, or a problem that cannot be proved.
    Warning,
    /// Provable.
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Note => Self::Note,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

/// The minimum severity that makes a run fail (exit code 1).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailOn {
    /// Only provable findings.
    #[default]
    Error,
    /// Warnings too.
    Warning,
    /// Any finding.
    Note,
    /// Findings never fail a run.
    Never,
}

impl FailOn {
    /// Returns the minimum severity that fails; `None` if none does.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Note => Some(Severity::Note),
            Self::Never => None,
        }
    }
}

/// How a rule's findings are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuleMode {
    /// The rule does not run.
    Off,
    /// Findings are notes.
    Shadow,
    /// Findings are warnings.
    Warn,
    /// Findings are errors if they are provable, otherwise warnings.
    Block,
}

impl From<RuleMode> for Mode {
    fn from(mode: RuleMode) -> Self {
        match mode {
            RuleMode::Off => Self::Off,
            RuleMode::Shadow => Self::Shadow,
            RuleMode::Warn => Self::Warn,
            RuleMode::Block => Self::Block,
        }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How something is shown as a whole.
#[cfg(feature = "guard")]
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ShownWhole {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: WholeFormat,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Colour,
}

/// The format of what is shown as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WholeFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
}
