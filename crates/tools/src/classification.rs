//! What kind of failure something is: exit codes, HTTP statuses, errors of the system.

use std::io::ErrorKind;

use counterfoil_model::ToolErrorCategory;

use crate::error::ToolError;

/// Why a command ended badly, as far as its exit code and its error output say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitCause {
    /// 126: it may not be executed.
    NotExecutable,
    /// 127: there is no such command.
    CommandNotFound,
    /// It complained that permission was denied.
    PermissionDenied,
    /// It complained about a file or directory that is not there.
    NoSuchFile,
    /// It was ended by this signal: its code is above 128.
    Signal(i32),
    /// It failed in its own way.
    Failed,
}

impl ExitCause {
    /// The cause behind an exit code; `None` when the command succeeded, whatever it printed.
    ///
    /// The exit code outranks the error output: shells print "Permission denied" when they end
    /// with 126.
    #[must_use]
    pub fn of(exit_code: i32, stderr: &str) -> Option<Self> {
        let said = |text: &str| contains_ignoring_case(stderr, text);
        Some(match exit_code {
            0 => return None,
            126 => Self::NotExecutable,
            127 => Self::CommandNotFound,
            129..=192 => Self::Signal(exit_code - 128),
            _ if said("permission denied") => Self::PermissionDenied,
            _ if said("no such file or directory") => Self::NoSuchFile,
            _ => Self::Failed,
        })
    }

    /// Its category. The same command fails the same way again, so none is retryable.
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
            Self::NotExecutable => "the command may not be executed (exit code 126)".to_owned(),
            Self::CommandNotFound => "there is no such command (exit code 127)".to_owned(),
            Self::PermissionDenied => {
                format!("permission was denied to the command (exit code {exit_code})")
            }
            Self::NoSuchFile => {
                format!("the command missed a file or directory (exit code {exit_code})")
            }
            Self::Signal(signal) => {
                format!("the command was ended by signal {signal} (exit code {exit_code})")
            }
            Self::Failed => format!("the command failed with exit code {exit_code}"),
        }
    }
}

fn contains_ignoring_case(text: &str, lower: &str) -> bool {
    let (text, lower) = (text.as_bytes(), lower.as_bytes());
    text.windows(lower.len()).any(|window| window.eq_ignore_ascii_case(lower))
}

/// The category of an HTTP answer; `None` below 400. Those that may pass are retryable: 408, 425,
/// 429 and all from 500.
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

/// The category of an error of the operating system.
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
        // Not exhaustive by its own declaration: what is new or unknown is not tried again.
        _ => ToolErrorCategory::PermanentFailure,
    }
}

/// By the kind of the error; the message is the system's.
impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::of(classify_io(error.kind()), error.to_string())
    }
}
