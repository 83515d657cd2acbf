use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a tool call did not do what was asked. Every failed call has exactly one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ToolErrorCategory {
    /// No tool has that name, or it is not available.
    ToolNotFound,
    /// The arguments do not match the tool's schema.
    InvalidParameters,
    /// An argument has the wrong type.
    TypeMismatch,
    /// A gate, a quota or the tool's own rules refused it.
    PolicyBlocked,
    /// A person has to agree first.
    ConfirmationRequired,
    /// It cannot succeed, even if retried.
    PermanentFailure,
    /// Abandoned before the end.
    Cancelled,
    /// Too many requests at present.
    RateLimited,
    /// The server failed.
    ServerError,
    /// The server could not be reached.
    NetworkError,
    /// It took too long.
    Timeout,
}

impl ToolErrorCategory {
    /// Every category, in the order used in the documentation.
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

    /// The name in receipts, in the audit log and in feedback.
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

    /// Whether the same call, or a corrected one, may succeed.
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

    /// Whether the model made a mistake in the call and should reconsider it. Never true for
    /// failures of the infrastructure or decisions of a policy.
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
