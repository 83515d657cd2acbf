use std::fmt;

/// A violation of a house rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Complaint {
    pub(super) path: String,
    /// 1-based; 0 when it concerns the whole file.
    pub(super) line: usize,
    pub(super) message: String,
    /// What to do.
    help: String,
}

impl Complaint {
    pub(super) fn new(
        path: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), line, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message)?,
            line => write!(f, "{}:{line}: {}", self.path, self.message)?,
        }
        write!(f, "\n  help: {}", self.help)
    }
}
