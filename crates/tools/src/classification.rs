//! Classifies failures: exit codes, HTTP statuses, system errors.

use std::io::ErrorKind;

use counterfoil_model::ToolErrorCategory;

use crate::error::ToolError;

/// Why a command failed, according to its exit code and its error output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitCause {
    /// 126: the file is not executable.
    NotExecutable,
    /// 127: the command does not exist.
    CommandNotFound,
    /// It reported a denied permission.
    PermissionDenied,
    /// It reported a missing file or directory.
    NoSuchFile,
    /// A signal ended it: the exit code is above 128.
    Signal(i32),
    /// It failed for a reason of its own.
    Failed,
}

impl ExitCause {
    /// The cause of an exit code; `None` if the command succeeded, whatever it printed.
    ///
    /// The exit code outranks the error output: shells print "Permission denied" when they exit
    /// with 126.
    #[must_use]
    pub fn from_exit(exit_code: i32, stderr: &str) -> Option<Self> {
        let reports = |text: &str| contains_ignoring_case(stderr, text);
        Some(match exit_code {
            0 => return None,
            126 => Self::NotExecutable,
            127 => Self::CommandNotFound,
            129..=192 => Self::Signal(exit_code - 128),
            _ if reports("permission denied") => Self::PermissionDenied,
            _ if reports("no such file or directory") => Self::NoSuchFile,
            _ => Self::Failed,
        })
    }

    /// The category. The same command would fail again, so no cause is retryable.
    #[must_use]
    pub fn category(self) -> ToolErrorCategory {
        match self {
            Self::NotExecutable => ToolErrorCategory::PolicyBlocked,
            Self::CommandNotFound
            | Self::PermissionDenied
            | Self::NoSuchFile
            | Self::Signal(_)
            | Self::Failed => ToolErrorCategory::PermanentFailure,
        }
    }

    /// The cause in words.
    #[must_use]
    pub fn message(self, exit_code: i32) -> String {
        match self {
            Self::NotExecutable => "the command cannot be executed (exit code 126)".to_owned(),
            Self::CommandNotFound => "the command was not found (exit code 127)".to_owned(),
            Self::PermissionDenied => {
                format!("the command reported: permission denied (exit code {exit_code})")
            }
            Self::NoSuchFile => {
                format!("the command reported: no such file or directory (exit code {exit_code})")
            }
            Self::Signal(signal) => {
                format!("the command was killed by signal {signal} (exit code {exit_code})")
            }
            Self::Failed => format!("the command failed with exit code {exit_code}"),
        }
    }
}

fn contains_ignoring_case(text: &str, lower: &str) -> bool {
    let (text, lower) = (text.as_bytes(), lower.as_bytes());
    text.windows(lower.len()).any(|window| window.eq_ignore_ascii_case(lower))
}

/// The category of an HTTP status; `None` below 400. Statuses that may be temporary are retryable:
/// 408, 425, 429 and all from 500.
#[must_use]
pub fn classify_http_status(status: u16) -> Option<ToolErrorCategory> {
    match status {
        ..400 => None,
        408 | 504 => Some(ToolErrorCategory::Timeout),
        429 => Some(ToolErrorCategory::RateLimited),
        425 | 500..600 => Some(ToolErrorCategory::ServerError),
        _ => Some(ToolErrorCategory::PermanentFailure),
    }
}

/// The category of a system error.
#[must_use]
pub fn classify_io(kind: ErrorKind) -> ToolErrorCategory {
    match kind {
        ErrorKind::TimedOut => ToolErrorCategory::Timeout,
        ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable => ToolErrorCategory::NetworkError,
        // The enum is not exhaustive: new and unknown kinds are not retried.
        _ => ToolErrorCategory::PermanentFailure,
    }
}

/// Classified by the kind of the error; the message is the system's.
impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::new(classify_io(error.kind()), error.to_string())
    }
}
