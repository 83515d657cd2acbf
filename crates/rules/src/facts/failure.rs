//! Whether a result reports a failure, whatever its mark says.

use serde_json::Value;

/// A result longer than this is content, not a status message.
const LONGEST_STATUS: usize = 4_000;

/// Openings of a status message that reports a failure.
const OPENINGS: [&str; 19] = [
    "error",
    "err:",
    "exception",
    "traceback (most recent call last)",
    "failed",
    "failure",
    "fatal:",
    "<tool_use_error>",
    "tool execution failed",
    "unable to",
    "could not",
    "cannot ",
    "invalid ",
    "permission denied",
    "access denied",
    "unauthorized",
    "not authorized",
    "unknown tool",
    "tool call rejected",
];

/// Whether a result's text says that the call failed: an error payload, or a status message that
/// opens with an error.
pub(crate) fn reports_failure(text: &str) -> bool {
    let text = text.trim_start();
    if text.is_empty() || text.len() > LONGEST_STATUS {
        return false;
    }
    if text.starts_with('{') {
        return serde_json::from_str::<Value>(text).is_ok_and(|value| is_error_payload(&value));
    }
    let head: String = text.chars().take(40).collect::<String>().to_ascii_lowercase();
    OPENINGS.iter().any(|opening| {
        head.strip_prefix(opening).is_some_and(|rest| {
            let plain = opening.ends_with([' ', ':', '>', ')']) || opening.contains(' ');
            plain || rest.is_empty() || rest.starts_with([':', ' ', '!', '.', '-', '\n', '('])
        })
    })
}

/// Whether a JSON result is an error payload.
fn is_error_payload(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    map.iter().any(|(key, value)| {
        let word = value.as_str().map(str::to_ascii_lowercase);
        match key.to_ascii_lowercase().as_str() {
            "error" | "errors" | "exception" | "error_message" | "errormessage" => match value {
                Value::Null | Value::Bool(false) => false,
                Value::String(text) => !text.is_empty() && text != "none",
                Value::Array(items) => !items.is_empty(),
                Value::Object(map) => !map.is_empty(),
                Value::Number(n) => n.as_f64() != Some(0.0),
                Value::Bool(true) => true,
            },
            "success" | "ok" | "succeeded" => value == &Value::Bool(false),
            "iserror" | "is_error" => value == &Value::Bool(true),
            "status" | "result" | "outcome" | "state" => match word.as_deref() {
                Some(word) => matches!(word, "error" | "failed" | "failure" | "fail" | "denied"),
                None => value.as_u64().is_some_and(|code| (400..600).contains(&code)),
            },
            "status_code" | "statuscode" | "http_status" | "code" => {
                value.as_u64().is_some_and(|code| (400..600).contains(&code))
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("[]", false),
            ("", false),
            ("Failed to send: quota", true),
            ("Cannot read it", true),
            ("<tool_use_error>String not found", true),
        ] {
            assert_eq!(reports_failure(text), expected, "{text}");
        }
    }
}
