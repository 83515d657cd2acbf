//! Finds failures that results report in their own words, whatever their error marks say.

use std::borrow::Cow;

use counterfoil_model::LossyText;

use crate::lists::{BAD_STATES, HTTP_ERRORS, OUTCOMES, REASONS};
use crate::members::{each_raw, is_empty};
use crate::status::{CallStatus, status_by_opening};

/// A result longer than this is content, not a status message.
pub const LONGEST_STATUS: usize = 4_000;

/// A failure that a result's own words report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The call failed.
    Failed,
    /// The call was not permitted.
    Refused,
    /// Only a state indicates it, as in `{"id": 7, "status": "failed"}`.
    State {
        /// The state, lower case.
        word: String,
        /// Whether the result has no other content than a reason.
        alone: bool,
    },
}

/// Finds a failure in a result's text: an error payload, or a status message that starts with an
/// error.
#[must_use]
pub fn failure_in(text: &str) -> Option<Failure> {
    let text = text.trim_start();
    if text.is_empty() || text.len() > LONGEST_STATUS {
        return None;
    }
    if text.starts_with('{') {
        return Payload::parse(text).failure();
    }
    status_by_opening(text).map(|status| match status {
        CallStatus::Denied => Failure::Refused,
        _ => Failure::Failed,
    })
}

/// Whether a command's whole output is its own complaint: `rm: cannot remove 'x': …` for `rm x`.
#[must_use]
pub fn only_complains(command: &str, text: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let complaint = |line: &str| {
        line.strip_prefix(program).and_then(|rest| rest.strip_prefix(": ")).is_some_and(|message| {
            ["cannot ", "can't ", "missing ", "invalid ", "unrecognized "]
                .iter()
                .any(|opening| message.starts_with(opening))
                || message.contains(": No such file or directory")
                || message.contains(": Permission denied")
        })
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    !program.is_empty() && lines.peek().is_some() && lines.all(complaint)
}

/// A JSON result, of which only the members that may report a failure are read.
#[derive(Default)]
struct Payload {
    fails: bool,
    /// A state that means failure.
    state: Option<String>,
    /// Whether it has members other than those about how the call went.
    more: bool,
}

impl Payload {
    /// Reads as many members as possible. An object that reports an error and is cut off still
    /// counts.
    fn parse(text: &str) -> Self {
        let mut payload = Self::default();
        each_raw(text, |key, value| {
            if !OUTCOMES.contains(&key) {
                payload.more |= !REASONS.contains(&key);
                return;
            }
            let word = value.and_then(text_of).filter(|_| STATES.contains(&key));
            match word.map(|word| word.to_ascii_lowercase()) {
                Some(word) if BAD_STATES.contains(&word.as_str()) => payload.state = Some(word),
                Some(_) => {}
                None => payload.fails |= reports(key, value),
            }
        });
        payload
    }

    fn failure(self) -> Option<Failure> {
        match self {
            Self { fails: true, .. } => Some(Failure::Failed),
            Self { state: Some(word), more, .. } => Some(Failure::State { word, alone: !more }),
            _ => None,
        }
    }
}

/// Members whose value is a state.
const STATES: [&str; 4] = ["status", "result", "outcome", "state"];

/// Members that hold an error, if there is one.
const ERRORS: [&str; 5] = ["error", "errors", "exception", "error_message", "errormessage"];

/// Whether a member reports a failure, by its raw value; `None` means that the text is cut off.
fn reports(key: &str, value: Option<&str>) -> bool {
    let Some(value) = value else { return ERRORS.contains(&key) };
    match key {
        _ if ERRORS.contains(&key) => match value {
            "null" | "false" => false,
            list if is_empty(list, '[', ']') || is_empty(list, '{', '}') => false,
            other => match text_of(other) {
                Some(text) => !text.is_empty() && text != "none",
                None => other.parse::<f64>() != Ok(0.0),
            },
        },
        "message" => text_of(value).is_some_and(|message| is_http_error(&message)),
        "success" | "ok" | "succeeded" => value == "false",
        "iserror" | "is_error" => value == "true",
        _ => value.parse().is_ok_and(|code: u64| (400..600).contains(&code)),
    }
}

/// The text of a JSON string.
fn text_of(value: &str) -> Option<Cow<'_, str>> {
    let written = value.strip_prefix('"')?.strip_suffix('"')?;
    if !written.contains('\\') {
        return Some(Cow::Borrowed(written));
    }
    let decoded = serde_json::from_str::<LossyText>(value);
    Some(decoded.map_or(Cow::Borrowed(written), |text| Cow::Owned(text.0)))
}

/// Whether a message is only the name of an HTTP error.
fn is_http_error(message: &str) -> bool {
    let message = message.trim_end_matches('.');
    HTTP_ERRORS.iter().any(|name| message.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_commands() {
        for (command, text, expected) in [
            ("rm a.log", "rm: cannot remove 'a.log': No such file or directory", true),
            ("cp a b", "cp: a: No such file or directory\n", true),
            ("rm a.log", "", false),
            ("rm -v a b", "rm: cannot remove 'a': No such file or directory\nremoved 'b'", false),
            ("cat notes", "rm: cannot remove 'a'", false),
        ] {
            assert_eq!(only_complains(command, text), expected, "{text}");
        }
    }

    #[test]
    fn payloads() {
        for (text, expected) in [
            ("Error: order not found", true),
            ("error", true),
            ("Errors are listed in errors.txt", false),
            (r#"{"error":"no such user"}"#, true),
            (r#"{"error":null,"id":1}"#, false),
            (r#"{"success":false}"#, true),
            (r#"{"status":"failed"}"#, true),
            (r#"{"status":404}"#, true),
            (r#"{"status":"cancelled"}"#, false),
            (r#"{"status" : "Denied", "n": 1}"#, true),
            (r#"{"status":"fa\u0069l"}"#, true),
            (r#"{"n":{"error":"x"},"list":["error"]}"#, false),
            (r#"{"note":"a \" {","ok":false}"#, true),
            (r#"{"\u006fk":false}"#, true),
            (r#"{"code":503}"#, true),
            (r#"{"error":"no end"#, true),
            ("[]", false),
            ("", false),
            ("Failed to send: quota", true),
            ("Cannot read it", true),
            ("<tool_use_error>String not found", true),
            ("HTTP 401 Unauthorized", true),
            ("HTTP/1.1 200 OK", false),
            ("Blocked by the PreToolUse hook", true),
            (r#"{"message":"Unauthorized"}"#, true),
            (r#"{"message":"The user is unauthorized to fly"}"#, false),
            (r#"{"message":"done","id":4}"#, false),
        ] {
            assert_eq!(failure_in(text).is_some(), expected, "{text}");
        }
    }
}
