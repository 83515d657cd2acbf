use serde::{Deserialize, Serialize};

/// The output of a shell command, as in
/// [`ToolOutput::raw_response`](crate::ToolOutput::raw_response).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutputEnvelope {
    /// The version of this format.
    pub version: u32,
    /// Its standard output, which may be cut in the middle.
    pub stdout: String,
    /// Its error output, which may be cut in the middle.
    pub stderr: String,
    /// Its exit code; 128 plus the signal if a signal ended it.
    pub exit_code: i32,
    /// Whether `stdout` or `stderr` is incomplete.
    pub truncated: bool,
}

impl ShellOutputEnvelope {
    /// The version written here.
    pub const VERSION: u32 = 1;
}
