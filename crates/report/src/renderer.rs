use std::fmt;
use std::io::{self, Write};

use crate::checked::{Checked, Unread};
use crate::format;
use crate::summary::Summary;

/// A way to show what was found.
///
/// Stateless, so that transcripts can be rendered in parallel; [`Document`] puts the fragments in
/// order.
pub trait Renderer: Send + Sync {
    /// What stands before everything else.
    fn head(&self) -> String;
    /// One transcript.
    fn transcript(&self, checked: &Checked<'_>) -> Fragment;
    /// What could not be read of one file.
    fn unread(&self, unread: &Unread<'_>) -> Fragment;
    /// What stands between two fragments that are not empty.
    fn separator(&self) -> &'static str;
    /// What stands after everything else. `aside` holds all asides, joined by the separator.
    fn tail(&self, summary: &Summary, aside: &str) -> String;
}

/// What a renderer makes of one transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fragment {
    /// Its place in the document.
    pub body: String,
    /// What can only be written at the end of the document.
    pub aside: String,
}

impl Fragment {
    /// A fragment without an aside.
    #[must_use]
    pub fn body(body: String) -> Self {
        Self { body, aside: String::new() }
    }
}

/// The formats in which findings are shown.
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
    /// One row a finding, for spreadsheets.
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

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|&(_, known)| known == name).map(|(format, _)| format)
    }

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|&(format, _)| format == self).map_or("text", |(_, name)| name)
    }

    /// The renderer of this format.
    #[must_use]
    pub fn renderer(self, look: Look) -> Box<dyn Renderer> {
        match self {
            Self::Text => Box::new(format::Text::new(&look)),
            Self::Json => Box::new(format::Json::new(&look)),
            Self::Jsonl => Box::new(format::Jsonl::new(&look)),
            Self::Sarif => Box::new(format::Sarif::new(look)),
            Self::Junit => Box::new(format::Junit),
            Self::Github => Box::new(format::Github),
            Self::Markdown => Box::new(format::Markdown::new(&look)),
            Self::Html => Box::new(format::Html::new(&look)),
            Self::Csv => Box::new(format::Csv),
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the reader asked to see, and how.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// ANSI colours, where the format has any.
    pub colour: bool,
    /// Columns of the terminal; 0 stands for 100.
    pub width: usize,
    /// Every claim with its verdict and evidence, not only what is wrong.
    pub show_supported: bool,
    /// In text and JSON Lines: how every clause was read.
    pub why: bool,
    /// In text and Markdown: counts instead of findings.
    pub statistics: bool,
    /// No summary, where the format has one for people only.
    pub quiet: bool,
    /// The version of the tool, for formats that name their producer.
    pub version: &'static str,
    /// What is known about the rules, for formats that describe them.
    pub rules: Vec<RuleCard>,
}

/// What a format may say about a rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleCard {
    /// The code.
    pub code: &'static str,
    /// The name.
    pub name: &'static str,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Its page in Markdown.
    pub page: &'static str,
}

/// Writes fragments in order as one document.
pub struct Document<'r, W> {
    renderer: &'r dyn Renderer,
    out: W,
    begun: bool,
    aside: String,
}

impl<'r, W: Write> Document<'r, W> {
    /// Begins a document.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn begin(renderer: &'r dyn Renderer, mut out: W) -> io::Result<Self> {
        out.write_all(renderer.head().as_bytes())?;
        Ok(Self { renderer, out, begun: false, aside: String::new() })
    }

    /// Writes the next fragment.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn push(&mut self, fragment: &Fragment) -> io::Result<()> {
        if !fragment.aside.is_empty() {
            if !self.aside.is_empty() {
                self.aside.push_str(self.renderer.separator());
            }
            self.aside.push_str(&fragment.aside);
        }
        if fragment.body.is_empty() {
            return Ok(());
        }
        if self.begun {
            self.out.write_all(self.renderer.separator().as_bytes())?;
        }
        self.begun = true;
        self.out.write_all(fragment.body.as_bytes())
    }

    /// Ends the document and gives the writer back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self, summary: &Summary) -> io::Result<W> {
        self.out.write_all(self.renderer.tail(summary, &self.aside).as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W> fmt::Debug for Document<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("begun", &self.begun).finish_non_exhaustive()
    }
}
