use std::time::Duration;

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

    /// The whole as the model reads it. `given_up`: after what time it was ended.
    pub(super) fn text(&self, given_up: Option<Duration>) -> String {
        let mut text = self.stdout.clone();
        if !self.stderr.is_empty() {
            new_line(&mut text);
            text.push_str("[stderr]\n");
            text.push_str(&self.stderr);
        }
        if self.truncated {
            new_line(&mut text);
            text.push_str("[output truncated]");
        }
        if let Some(time) = given_up {
            new_line(&mut text);
            text.push_str(&format!("[Command was ended after {} s]", time.as_secs()));
        } else if self.exit_code != 0 {
            new_line(&mut text);
            text.push_str(&format!("[Command finished with exit code {}]", self.exit_code));
        }
        text
    }
}

fn new_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
