//! How a call ended, read from the members next to its result's content.
//!
//! All readers use this module, so that one rule holds for every format: a failure reported
//! anywhere counts, and a marker that is not understood leaves the end unknown. Nothing that was
//! not understood counts as a success.

use counterfoil_model::{Outcome, Status, exit_code_of};
use serde_json::value::RawValue;

use crate::content;
use crate::fields::Fields;
use crate::outcome_text;
use crate::session::Session;

/// The meaning of a member's value.
#[derive(Clone, Copy)]
enum Says {
    /// `true`: it failed.
    Fault,
    /// `true`: it succeeded.
    Success,
    /// A word for how it ended.
    Word,
    /// The exit code of a command.
    Code,
    /// An error message; empty if the call succeeded.
    Error,
}

/// Members that report how a call ended, in any format.
const MEMBERS: [(&str, Says); 14] = [
    ("is_error", Says::Fault),
    ("isError", Says::Fault),
    ("success", Says::Success),
    ("ok", Says::Success),
    ("status", Says::Word),
    ("outcome", Says::Word),
    ("exit_code", Says::Code),
    ("exitCode", Says::Code),
    ("returncode", Says::Code),
    ("return_code", Says::Code),
    ("error", Says::Error),
    ("errors", Says::Error),
    ("errorText", Says::Error),
    ("error_message", Says::Error),
];

/// Members that carry no information about the result.
const BESIDE: [&str; 14] = [
    "id",
    "name",
    "type",
    "tool_name",
    "toolName",
    "createdAt",
    "created_at",
    "timestamp",
    "metadata",
    "_meta",
    "annotations",
    "cache_control",
    "model",
    "caller",
];

/// Takes the members that report how a call ended, and records them in the outcome.
pub(crate) fn read_ending(fields: &mut Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    let all: Vec<&str> = MEMBERS.iter().map(|(name, _)| *name).collect();
    read_members(&all, fields, outcome, session);
}

/// [`read_ending`], restricted to the given members.
pub(crate) fn read_members(
    names: &[&str],
    fields: &mut Fields<'_>,
    outcome: &mut Outcome,
    session: &mut Session,
) {
    for (name, says) in MEMBERS.into_iter().filter(|(name, _)| names.contains(name)) {
        let Some(raw) = fields.take(name) else { continue };
        let understood = match says {
            Says::Fault => flag(raw).map(|failed| ended(outcome, failed)),
            Says::Success => flag(raw).map(|succeeded| ended(outcome, !succeeded)),
            Says::Word => note_word(raw.get().trim_matches('"'), outcome).then_some(()),
            Says::Code => exit_code_of(raw.get()).map(|code| outcome.exit_code = Some(code)),
            Says::Error => {
                if !matches!(raw.get(), "false" | "\"\"" | "[]" | "0") {
                    outcome.is_error = Some(true);
                    let text = error_text(raw, session);
                    if !outcome.text.contains(&text) {
                        content::join(&mut outcome.text, &text);
                    }
                }
                Some(())
            }
        };
        if understood.is_none() {
            unread(outcome, name, session);
        }
    }
    settle_refusal(outcome);
}

/// Records how a call ended from a status word of any format. Returns `false` for an unknown word.
fn note_word(word: &str, outcome: &mut Outcome) -> bool {
    match Status::from_dialect(word).or_else(|| of_http(word)) {
        Some(Status::Completed) => ended(outcome, false),
        Some(Status::Open) => outcome.running = true,
        Some(Status::Denied | Status::Refused) => outcome.refused = true,
        Some(Status::Failed | Status::Cancelled | Status::Timeout | Status::RolledBack) => {
            ended(outcome, true);
        }
        None => return false,
    }
    true
}

/// The meaning of an HTTP status code.
fn of_http(word: &str) -> Option<Status> {
    match word.parse::<u16>().ok()? {
        200..400 => Some(Status::Completed),
        400..600 => Some(Status::Failed),
        _ => None,
    }
}

/// Records how a call ended from a status word. An unknown word leaves the end unknown.
pub(crate) fn read_word(word: Option<&str>, outcome: &mut Outcome, session: &mut Session) {
    if word.is_some_and(|word| !note_word(word, outcome)) {
        unread(outcome, "status", session);
    }
}

/// Marks the outcome of a result as unknown if it has neither text nor a reported end, but members
/// that were not understood.
pub(crate) fn read_rest(fields: &Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    let has_end = outcome.is_error == Some(true)
        || outcome.exit_code.is_some()
        || outcome.refused
        || outcome.running;
    let more = |(name, raw): (&str, &RawValue)| {
        // A number is a duration or a count, not a status.
        let number = raw.get().starts_with(|c: char| c.is_ascii_digit());
        let empty = matches!(raw.get(), "null" | "\"\"" | "[]" | "{}" | "false");
        !BESIDE.contains(&name) && !number && !empty
    };
    if !has_end && outcome.text.is_empty() && fields.left().any(more) {
        unread(outcome, "content", session);
    }
}

/// Marks the end of a call as unknown, because this member of its result is missing or was not
/// understood.
pub(crate) fn unread(outcome: &mut Outcome, member: &str, session: &mut Session) {
    outcome.unread = true;
    session.skip_named("call with unknown ending: missing or unreadable", member);
}

/// A failure reported by any member wins.
fn ended(outcome: &mut Outcome, failed: bool) {
    outcome.is_error = Some(failed || outcome.is_error == Some(true));
}

/// Marks a failed call as refused if its text says so.
fn settle_refusal(outcome: &mut Outcome) {
    outcome.refused |= outcome.is_error == Some(true) && outcome_text::says_refused(&outcome.text);
}

/// Reads `true`, `"true"` or `1`, and their opposites; `None` for anything else.
fn flag(raw: &RawValue) -> Option<bool> {
    match raw.get().trim_matches('"').to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// The message of an error: a string, the `message` of an object, or the value verbatim.
fn error_text(raw: &RawValue, session: &mut Session) -> String {
    let message = Fields::from_value(raw).and_then(|mut error| error.string("message"));
    message.map_or_else(|| content::result_text(raw, session), |message| message.into_owned())
}

#[cfg(test)]
mod tests {
    use counterfoil_model::Format;

    use super::*;

    #[test]
    fn the_end_of_a_call_is_what_its_members_tell() {
        for (result, expected) in [
            (r#"{"is_error":false}"#, "succeeded"),
            (r#"{"isError":"true"}"#, "failed"),
            (r#"{"is_error":"perhaps"}"#, "unknown"),
            (r#"{"isError":{"code":1}}"#, "unknown"),
            (r#"{"success":true}"#, "succeeded"),
            (r#"{"success":0}"#, "failed"),
            (r#"{"status":"completed"}"#, "succeeded"),
            (r#"{"status":"error"}"#, "failed"),
            (r#"{"status":"cancelled"}"#, "failed"),
            (r#"{"status":"rejected-by-user"}"#, "refused"),
            (r#"{"status":"in-progress"}"#, "running"),
            (r#"{"status":503}"#, "failed"),
            (r#"{"status":"mended"}"#, "unknown"),
            (r#"{"status":{"type":"done"}}"#, "unknown"),
            (r#"{"exit_code":"2"}"#, "failed"),
            (r#"{"exitCode":4294967295}"#, "failed"),
            (r#"{"exit_code":1e400}"#, "unknown"),
            (r#"{"error":{"message":"no"}}"#, "failed"),
            (r#"{"error":null,"isError":false}"#, "succeeded"),
            (r#"{"error":"","isError":false}"#, "succeeded"),
            (r#"{"isError":false,"error":"no"}"#, "failed"),
            (r#"{"status":"completed","error":"no"}"#, "failed"),
            (r#"{"payload":{"error":"no"}}"#, "unknown"),
            (r#"{"id":"x","type":"tool_result","duration_ms":12}"#, "not told"),
            ("{}", "not told"),
        ] {
            let mut session = Session::new("t", Format::OpenaiChat);
            let mut fields = Fields::parse(result).unwrap();
            let mut outcome = Outcome::default();
            read_ending(&mut fields, &mut outcome, &mut session);
            read_rest(&fields, &mut outcome, &mut session);
            let is = match outcome {
                Outcome { unread: true, .. } => "unknown",
                Outcome { refused: true, .. } => "refused",
                Outcome { running: true, .. } => "running",
                Outcome { is_error: Some(true), .. } => "failed",
                Outcome { exit_code: Some(code), .. } if code != 0 => "failed",
                Outcome { is_error: Some(false), .. } => "succeeded",
                _ => "not told",
            };
            assert_eq!(is, expected, "{result}");
        }
    }
}
