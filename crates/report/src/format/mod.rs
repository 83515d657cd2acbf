//! The formats, one file each. They do not import each other; shared code is in the parent module.

mod csv;
mod github;
mod html;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod sarif;
mod text;

use std::fmt;
use std::path::Path;

use csv::Csv;
use github::Github;
use html::Html;
use json::Json;
use jsonl::Jsonl;
use junit::Junit;
use markdown::Markdown;
use sarif::Sarif;
use text::Text;

use crate::renderer::{Look, Renderer};

/// The output formats of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReportFormat {
    /// For people at a terminal.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Annotations of a GitHub workflow.
    Github,
    /// Markdown for a comment on a pull request.
    Markdown,
    /// One page for a browser.
    Html,
    /// One row per finding, for spreadsheets.
    Csv,
}

impl ReportFormat {
    /// Every format with its name.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Text, "text"),
        (Self::Json, "json"),
        (Self::Jsonl, "jsonl"),
        (Self::Sarif, "sarif"),
        (Self::Junit, "junit"),
        (Self::Github, "github"),
        (Self::Markdown, "markdown"),
        (Self::Html, "html"),
        (Self::Csv, "csv"),
    ];

    /// Returns the format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|&(_, known)| known == name).map(|(format, _)| format)
    }

    /// The format of a file with this name, judging by what it ends in.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Self::Text,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::Jsonl,
            "sarif" => Self::Sarif,
            "xml" => Self::Junit,
            "md" | "markdown" => Self::Markdown,
            "html" | "htm" => Self::Html,
            "csv" => Self::Csv,
            _ => return None,
        })
    }

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|&(format, _)| format == self).map_or("text", |(_, name)| name)
    }

    /// Creates the renderer of this format.
    #[must_use]
    pub fn renderer(self, look: Look) -> Box<dyn Renderer> {
        match self {
            Self::Text => Box::new(Text::new(&look)),
            Self::Json => Box::new(Json::new(&look)),
            Self::Jsonl => Box::new(Jsonl::new(&look)),
            Self::Sarif => Box::new(Sarif::new(look)),
            Self::Junit => Box::new(Junit::new(&look)),
            Self::Github => Box::new(Github::new(&look)),
            Self::Markdown => Box::new(Markdown::new(&look)),
            Self::Html => Box::new(Html::new(&look)),
            Self::Csv => Box::new(Csv),
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
