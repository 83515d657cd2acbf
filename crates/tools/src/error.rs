use counterfoil_model::ToolErrorCategory;

/// Why an executor did not do what it was permitted to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// A command failed.
    #[error("{message}")]
    Shell {
        /// Its exit code.
        exit_code: i32,
        /// The category of that exit code.
        category: ToolErrorCategory,
        /// What went wrong, for the model.
        message: String,
    },
    /// The files that a command would write could not be copied first, so it did not run.
    #[error(
        "the command did not run: cannot take a snapshot of the files it would write: {reason}"
    )]
    SnapshotFailed {
        /// The reason.
        reason: String,
    },
    /// A command failed, and its changes could not all be rolled back.
    #[error("the command failed, and not all of its changes could be rolled back: {reason}")]
    RollbackFailed {
        /// Each of the files, with the reason.
        reason: String,
    },
    /// Any other failure.
    #[error("{message}")]
    Failed {
        /// The kind of failure.
        category: ToolErrorCategory,
        /// What went wrong, for the model.
        message: String,
    },
}

/// Whether retrying may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolErrorKind {
    /// It may be retried within the budget.
    Transient,
    /// It is not retried; the model gets the error.
    Permanent,
}

impl ToolError {
    /// A failure of this category, with a message for the model.
    #[must_use]
    pub fn new(category: ToolErrorCategory, message: impl Into<String>) -> Self {
        Self::Failed { category, message: message.into() }
    }

    /// The kind of failure.
    #[must_use]
    pub fn category(&self) -> ToolErrorCategory {
        match self {
            Self::Shell { category, .. } | Self::Failed { category, .. } => *category,
            Self::SnapshotFailed { .. } | Self::RollbackFailed { .. } => {
                ToolErrorCategory::PermanentFailure
            }
        }
    }

    /// Whether retrying may help.
    #[must_use]
    pub fn kind(&self) -> ToolErrorKind {
        match self.category() {
            ToolErrorCategory::RateLimited
            | ToolErrorCategory::ServerError
            | ToolErrorCategory::NetworkError
            | ToolErrorCategory::Timeout => ToolErrorKind::Transient,
            ToolErrorCategory::ToolNotFound
            | ToolErrorCategory::InvalidParameters
            | ToolErrorCategory::TypeMismatch
            | ToolErrorCategory::PolicyBlocked
            | ToolErrorCategory::ConfirmationRequired
            | ToolErrorCategory::PermanentFailure
            | ToolErrorCategory::Cancelled => ToolErrorKind::Permanent,
        }
    }
}
