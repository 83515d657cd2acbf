use serde::{Deserialize, Serialize};

/// What a shell command gave back, as it stands in
/// [`ToolOutput::raw_response`](crate::ToolOutput::raw_response).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutputEnvelope {
    /// The version of this shape.
    pub version: u32,
    /// What it printed, perhaps cut in the middle.
    pub stdout: String,
    /// Its error output, perhaps cut in the middle.
    pub stderr: String,
    /// Its exit code; 128 and the signal when one ended it.
    pub exit_code: i32,
    /// Something is missing from `stdout` or `stderr`.
    pub truncated: bool,
}

impl ShellOutputEnvelope {
    /// The version that is written.
    pub const VERSION: u32 = 1;
}
