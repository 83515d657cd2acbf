use std::fmt;
use std::io::{self, Write};

use counterfoil_model::{Mode, Severity};

use crate::checked::{Checked, Unread};
use crate::summary::Summary;

/// Renders a report in one format.
///
/// Stateless, so that transcripts can be rendered in parallel; [`Document`] puts the fragments in
/// order.
pub trait Renderer: Send + Sync {
    /// The text before all fragments.
    fn head(&self) -> String;
    /// Renders one transcript.
    fn transcript(&self, checked: &Checked<'_>) -> Fragment;
    /// Renders the reading problems of one file.
    fn unread(&self, unread: &Unread<'_>) -> Fragment;
    /// The text between two non-empty fragments.
    fn separator(&self) -> &'static str;
    /// The text after all fragments. `aside` holds all asides, joined by the separator.
    fn tail(&self, summary: &Summary, aside: &str) -> String;
}

/// The rendered parts of one transcript or file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fragment {
    /// The part that is written in sequence.
    pub body: String,
    /// The part that is written at the end of the document.
    pub aside: String,
}

impl Fragment {
    /// Creates a fragment without an aside.
    #[must_use]
    pub fn body(body: String) -> Self {
        Self { body, aside: String::new() }
    }
}

/// What to show, and how.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// Whether to use ANSI colours, in formats that support them.
    pub colour: bool,
    /// Columns of the terminal; 0 means 100.
    pub width: usize,
    /// Whether to show every claim with its verdict and evidence, not only findings.
    pub show_supported: bool,
    /// Whether to show how each clause was read; text and JSON Lines only.
    pub why: bool,
    /// Whether to show counts instead of findings; text and Markdown only.
    pub statistics: bool,
    /// Whether to show the fingerprint of each finding, by which it is accepted; text only.
    pub fingerprints: bool,
    /// The severity from which a finding fails the run; JUnit only. `None` if none does.
    pub fail_on: Option<Severity>,
    /// Whether to omit the summary, in formats whose summary is only for people.
    pub quiet: bool,
    /// The folder that absolute paths are made relative to, in formats for code hosts; empty if
    /// there is none.
    pub root: String,
    /// The version of the tool, for formats that name it.
    pub version: &'static str,
    /// Descriptions of the rules, for formats that include them.
    pub rules: Vec<RuleCard>,
}

/// Describes a rule in a report.
#[derive(Debug, Clone, Copy)]
pub struct RuleCard {
    /// The code.
    pub code: &'static str,
    /// The name.
    pub name: &'static str,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Its default mode.
    pub mode: Mode,
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
    /// Returns an error if writing fails.
    pub fn begin(renderer: &'r dyn Renderer, mut out: W) -> io::Result<Self> {
        out.write_all(renderer.head().as_bytes())?;
        Ok(Self { renderer, out, begun: false, aside: String::new() })
    }

    /// Writes the next fragment.
    ///
    /// # Errors
    /// Returns an error if writing fails.
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

    /// Ends the document and returns the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
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
