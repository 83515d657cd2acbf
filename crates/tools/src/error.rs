use counterfoil_model::ToolErrorCategory;

/// Why an executor did not do what it was permitted to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// A command ended badly.
    #[error("{message}")]
    Shell {
        /// Its exit code.
        exit_code: i32,
        /// What that means.
        category: ToolErrorCategory,
        /// What went wrong, for the model.
        message: String,
    },
    /// What a command would write could not be copied first, so it did not run.
    #[error("the command did not run, because there is no snapshot of what it writes: {reason}")]
    SnapshotFailed {
        /// Why not.
        reason: String,
    },
    /// A command failed, and what it wrote could not all be put back.
    #[error("the command failed, and not everything could be put back: {reason}")]
    RollbackFailed {
        /// Each of the files, with the reason.
        reason: String,
    },
    /// Everything else.
    #[error("{message}")]
    Failed {
        /// What kind of failure.
        category: ToolErrorCategory,
        /// What went wrong, for the model.
        message: String,
    },
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolErrorKind {
    /// Within the budget it may be tried again.
    Transient,
    /// It is not tried again; the model is told.
    Permanent,
}

impl ToolError {
    /// A failure of this kind, with what the model should know about it.
    #[must_use]
    pub fn of(category: ToolErrorCategory, message: impl Into<String>) -> Self {
        Self::Failed { category, message: message.into() }
    }

    /// What kind of failure.
    #[must_use]
    pub fn category(&self) -> ToolErrorCategory {
        match self {
            Self::Shell { category, .. } | Self::Failed { category, .. } => *category,
            Self::SnapshotFailed { .. } | Self::RollbackFailed { .. } => {
                ToolErrorCategory::PermanentFailure
            }
        }
    }

    /// Whether trying again can help.
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
