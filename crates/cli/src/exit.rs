use std::io::{self, Write};
use std::process::ExitCode;

use crate::terminal;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// No findings at or above the fail level.
    Clean = 0,
    /// Findings at or above the fail level.
    Findings = 1,
    /// Wrong usage, or unreadable input.
    Input = 2,
    /// An internal error.
    Internal = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error with advice.
#[derive(Debug)]
pub(crate) struct Complaint {
    message: String,
    help: Option<String>,
}

impl Complaint {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Creates a complaint that says the same as an error.
    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self::new(error.to_string())
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The advice.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Complaint {}

/// Prints a note to standard error.
pub(crate) fn note(text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stderr(), "note: {text}")
}

/// Prints an error, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error, out: &mut dyn Write) -> io::Result<Exit> {
    // The reader of our output has closed the pipe: `counterfoil check … | head`.
    let broken_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe);
    if broken_pipe {
        return Ok(Exit::Clean);
    }
    let paint = terminal::Paint::for_errors();
    writeln!(out, "{}: {}", paint.error("error"), joined(error))?;
    for cause in error.chain() {
        if let Some(Complaint { help: Some(help), .. }) = cause.downcast_ref() {
            writeln!(out, "  {}: {help}", paint.help("help"))?;
        }
    }
    Ok(Exit::Input)
}

/// Joins the messages of the error and its causes, without repetitions: some errors repeat their
/// cause.
fn joined(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |text, cause| match cause.to_string() {
        cause if text.is_empty() => cause,
        cause if text.ends_with(&cause) => text,
        cause => format!("{text}: {cause}"),
    })
}
