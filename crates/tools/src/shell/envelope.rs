//! The output of a command in the form that the model reads.

use std::time::Duration;

use crate::ShellOutputEnvelope;

impl ShellOutputEnvelope {
    /// The whole output as text. `given_up` is the time after which the command was ended, if it
    /// was.
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
