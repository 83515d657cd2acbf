use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a tool call did not do what it was asked. Every failed call has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ToolErrorCategory {
    /// No tool has that name, or it is not available.
    ToolNotFound,
    /// The arguments do not fit the tool.
    InvalidParameters,
    /// An argument has the wrong type.
    TypeMismatch,
    /// A gate, a quota or the tool's own rules said no.
    PolicyBlocked,
    /// A person has to agree first.
    ConfirmationRequired,
    /// It cannot succeed, however often it is tried.
    PermanentFailure,
    /// Given up before the end.
    Cancelled,
    /// Too many requests for now.
    RateLimited,
    /// The other side failed.
    ServerError,
    /// The other side was not reached.
    NetworkError,
    /// It took too long.
    Timeout,
}

impl ToolErrorCategory {
    /// Every category, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::ToolNotFound,
        Self::InvalidParameters,
        Self::TypeMismatch,
        Self::PolicyBlocked,
        Self::ConfirmationRequired,
        Self::PermanentFailure,
        Self::Cancelled,
        Self::RateLimited,
        Self::ServerError,
        Self::NetworkError,
        Self::Timeout,
    ];

    /// The name in receipts, audit and feedback.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolNotFound => "ToolNotFound",
            Self::InvalidParameters => "InvalidParameters",
            Self::TypeMismatch => "TypeMismatch",
            Self::PolicyBlocked => "PolicyBlocked",
            Self::ConfirmationRequired => "ConfirmationRequired",
            Self::PermanentFailure => "PermanentFailure",
            Self::Cancelled => "Cancelled",
            Self::RateLimited => "RateLimited",
            Self::ServerError => "ServerError",
            Self::NetworkError => "NetworkError",
            Self::Timeout => "Timeout",
        }
    }

    /// Whether the same or a corrected call may succeed.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::InvalidParameters
            | Self::TypeMismatch
            | Self::RateLimited
            | Self::ServerError
            | Self::NetworkError
            | Self::Timeout => true,
            Self::ToolNotFound
            | Self::PolicyBlocked
            | Self::ConfirmationRequired
            | Self::PermanentFailure
            | Self::Cancelled => false,
        }
    }

    /// Whether the model got the call wrong, so that it should reconsider what it wrote.
    /// Never for trouble of the infrastructure, never for a decision of a policy.
    #[must_use]
    pub fn is_quality_failure(self) -> bool {
        matches!(self, Self::InvalidParameters | Self::TypeMismatch)
    }
}

impl fmt::Display for ToolErrorCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
